"""A bug that leaves the study while a round is open is given to nobody any more, and waited for by nobody."""

import pytest

from annotator.labeling.models import Assignment, Round
from annotator.labeling.places import next_for
from annotator.labeling.queries import progress, to_label
from annotator.sampling.actions import come_back, leave
from tests.factories import answer, make_round

FIRST = "/frameworks/rounds/1/bugs/1/"


def own(round_, rater) -> list[tuple[int, str]]:
    return list(Assignment.objects.filter(round=round_, rater=rater).order_by("position").values_list("bug", "state"))


@pytest.fixture
def first(main_round, alice):
    return next_for(main_round, alice).bug


def test_it_is_neither_given_nor_counted_until_it_comes_back(client, main_round, first, study, alice, lee):
    client.force_login(alice)
    left = to_label(study, alice)
    leave(bugs=[first], reason="duplicate", note="Of bug 2.", by=lee)
    assert next_for(main_round, alice).bug != first
    page = client.get("/frameworks/rounds/1/label/")
    assert page.context["assignment"].bug != first
    assert first.number not in [row.number for row in client.get("/frameworks/rounds/1/mine/").context["rows"]]
    (mine,) = progress(main_round, viewer=alice, is_lead=False)
    assert (mine.total, mine.left, to_label(study, alice)) == (left - 1, left - 1, left - 1)
    come_back(bug=first, reason="It is none.", by=lee)
    assert (next_for(main_round, alice).bug, to_label(study, alice)) == (first, left)


def test_neither_as_the_next_after_another(client, main_round, study, alice, lee, fields):
    client.force_login(alice)
    (one, _), (two, _), (three, _), *_ = own(main_round, alice)
    bugs = study.bugs.in_bulk()
    leave(bugs=[bugs[two]], reason="withdrawn", note="The request was reverted.", by=lee)
    here = f"/frameworks/rounds/1/bugs/{bugs[one].number}/"
    page = client.get(here)
    assert page.context["next_number"] == bugs[three].number
    assert client.post(here, fields(), headers={"hx-request": "true"}).context["assignment"].bug_id == three


def test_in_a_pool_nobody_claims_it(study, bugs, alice, bob, lee):
    pool = make_round(study, bugs=bugs, raters=[alice, bob], by=lee, design=Round.Design.POOL)
    leave(bugs=bugs[:1], reason="withdrawn", note="The request was reverted.", by=lee)
    assert next_for(pool, alice).bug != bugs[0]


def test_what_was_answered_stays_and_what_is_no_bug_may_be_looked_at(main_round, first, alice, bob, lee):
    answer(main_round, first, alice, {"cause": "type", "stage": "training"})
    leave(bugs=[first], reason="duplicate", note="Of bug 2.", by=lee)
    (mine,) = progress(main_round, viewer=alice, is_lead=False)
    assert (mine.submitted, mine.total) == (1, len(own(main_round, alice)))
    come_back(bug=first, reason="It is none.", by=lee)
    leave(bugs=[first], reason="not_a_bug", by=lee)
    assert to_label(main_round.study, bob) == len(own(main_round, bob))
