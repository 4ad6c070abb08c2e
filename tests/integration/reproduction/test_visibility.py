"""Until a round closes, reproduction of its bugs is seen by those alone who neither rate there nor only read."""

import pytest

from annotator.history.models import Event
from annotator.overview import past
from annotator.overview.rounds.closing import close_round
from annotator.reproduction import queries
from annotator.studies.access import roles_in
from tests.factories import UserFactory, answer, make_round, member
from tests.factories.reproduction import make_recipe, make_series


@pytest.fixture
def reader(study):
    return member(study, UserFactory(username="rita"), "reader")


def seen(study, person):
    rows = queries.recipes_visible_to(study, person, roles_in(person, study))
    return sorted(rows.values_list("number", flat=True))


def test_without_an_open_round_every_member_sees_it(study, bugs, alice, bob, ada, lee, reader):
    make_recipe(bugs[0], ada)
    assert all(seen(study, person) == [1] for person in (alice, bob, ada, lee, reader))


def test_in_an_open_round_leads_and_adjudicators_see_it_and_nobody_else(study, bugs, alice, bob, ada, lee, reader):
    make_recipe(bugs[0], ada)
    make_recipe(bugs[5], ada)
    round_ = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    assert [seen(study, person) for person in (alice, bob, reader)] == [[2], [2], [2]]
    assert [seen(study, person) for person in (ada, lee)] == [[1, 2], [1, 2]]
    assert not queries.is_shown(study, bugs[0], alice, ["rater"])
    for bug in bugs[:2]:
        for rater in (alice, bob):
            answer(round_, bug, rater, {"cause": "type", "stage": "training"})
    close_round(round_=round_, by=lee)
    assert seen(study, alice) == seen(study, reader) == [1, 2]


def test_a_lead_who_rates_sees_that_round_as_a_rater(study, bugs, alice, lee):
    member(study, lee, "rater")
    make_recipe(bugs[0], lee)
    make_round(study, bugs=bugs[:2], raters=[alice, lee], by=lee)
    assert seen(study, lee) == []


def test_where_the_protocol_says_so_raters_see_it_before_they_label(study, bugs, alice, bob, lee, ada):
    study.protocol = {"reproduction_first": True}
    study.save()
    make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    make_recipe(bugs[0], ada)
    assert seen(study, alice) == [1] and queries.is_shown(study, bugs[0], alice, ["rater"])
    assert Event.objects.get(kind="recipe").round_id is None


def test_the_history_tells_of_it_when_the_round_closes(study, bugs, alice, bob, lee, ada):
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    make_series(bugs[0], ada)
    told = {event.verb for event in past.visible(study, alice)}
    assert not {"wrote a recipe", "asked for runs"} & told
    assert {"wrote a recipe", "asked for runs"} <= {event.verb for event in past.visible(study, ada)}
    for rater in (alice, bob):
        answer(round_, bugs[0], rater, {"cause": "type", "stage": "training"})
    close_round(round_=round_, by=lee)
    assert {"wrote a recipe", "asked for runs"} <= {event.verb for event in past.visible(study, alice)}


def test_verdicts_of_many_recipes_take_a_bounded_number_of_queries(study, bugs, ada, django_assert_max_num_queries):
    listed = [make_series(bug, ada).recipe for bug in bugs]
    with django_assert_max_num_queries(3):
        told = queries.latest_told(listed)
    assert {one.verdict.verdict for one in told.values()} == {"waiting"} and len(told) == 6
