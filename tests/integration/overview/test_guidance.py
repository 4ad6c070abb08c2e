"""Settled bugs as examples while labelling: never the bug itself, nothing of open rounds, none where one labels again."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.adjudication.models import Resolution
from annotator.codebook import tell_apart
from annotator.labeling.models import Assignment
from annotator.overview.guidance.settled import examples
from annotator.overview.rounds.closing import close_round
from annotator.sampling.models import Bug
from tests.factories import answer, make_round


@pytest.fixture
def cause(study):
    return study.codebook.facets.get(key="cause")


@pytest.fixture
def settled(study, bugs, alice, bob, lee):
    """Of six bugs four are settled: three as type, one as shape."""
    round_ = make_round(study, bugs=bugs[:4], raters=[alice, bob], by=lee, name="Pilot")
    for place, bug in enumerate(bugs[:4]):
        for rater in (alice, bob):
            said = {"cause": "shape" if place == 3 else "type", "stage": "training"}
            answer(round_, bug, rater, said, note="As the test shows." if rater == alice else "")
    return close_round(round_=round_, by=lee)


@pytest.fixture
def now(study, settled, bugs, alice, bob, lee):
    return make_round(study, bugs=bugs[4:], raters=[alice, bob], by=lee, name="Round 1")


def turn(round_, rater, bug):
    return Assignment.objects.select_related("bug", "round").get(round=round_, rater=rater, bug=bug)


def numbers(turn_, cause, name="type"):
    category = cause.categories.get(name=name)
    return [one.number for one in examples(turn_, [category]).get(category.pk, ())]


def test_settled_bugs_of_the_category_are_shown_with_a_raters_reason(now, bugs, alice, cause):
    category = cause.categories.get(name="type")
    found = examples(turn(now, alice, bugs[4]), [category])[category.pk]
    assert [(one.number, one.source, one.why) for one in found] == [
        (number, "unanimous", "As the test shows.") for number in (1, 2, 3)
    ]


def test_never_the_bug_itself_nor_another_of_its_item(study, settled, bugs, alice, bob, lee, cause):
    again = make_round(study, bugs=[bugs[0]], raters=[alice, bob], by=lee, name="Audit", kind="audit")
    assert numbers(turn(again, alice, bugs[0]), cause) == [2, 3]
    twin = Bug.objects.create(study=study, item_id=bugs[1].item_id, ordinal=2, number=100)
    more = make_round(study, bugs=[twin], raters=[alice, bob], by=lee, name="Round 2")
    assert numbers(turn(more, alice, twin), cause) == [3]  # bug 1 is in an open round


def test_nothing_of_a_bug_that_is_being_labelled(study, now, bugs, alice, bob, lee, cause):
    make_round(study, bugs=[bugs[1]], raters=[alice, bob], by=lee, name="Audit", kind="audit")
    assert numbers(turn(now, alice, bugs[4]), cause) == [1, 3]


@pytest.mark.parametrize("kind", ["relabel", "retest"])
def test_none_where_one_labels_again(client, study, settled, bugs, alice, bob, lee, cause, kind):
    again = make_round(study, bugs=[bugs[0]], raters=[alice, bob], by=lee, name="Again", kind=kind)
    assert numbers(turn(again, alice, bugs[0]), cause) == []
    client.force_login(alice)
    page = client.get(reverse("labeling:label", args=[study.slug, again.number])).content.decode()
    assert "data-guidance" not in page


def test_what_waits_for_a_decision_is_no_example(now, bugs, alice, cause):
    Resolution.objects.filter(bug=bugs[0]).update(is_stale=True)
    assert numbers(turn(now, alice, bugs[4]), cause) == [2, 3]


def test_three_queries_whatever_the_number(now, bugs, alice, cause, django_assert_max_num_queries):
    mine = turn(now, alice, bugs[4])
    with django_assert_max_num_queries(3):
        examples(mine, list(cause.categories.all()))


def test_the_fragment_and_the_page(client, study, now, bugs, alice, lee, charlie, cause):
    first, second = cause.categories.select_related("facet__codebook").filter(name__in=["type", "shape"])
    tell_apart.write_note(first=first, second=second, text="Look at the ranks.", by=lee)
    page = reverse("overview:guidance", args=[study.slug, now.number, bugs[4].number])
    fragment = f"{page}{first.uid}/"
    client.force_login(alice)
    assert "As the test shows." in client.get(fragment).content.decode()
    text = client.get(page).content.decode()
    for word in ("Look at the ranks.", "Settled so", "type or shape?", bugs[0].item.title):
        assert word in text
    assert client.get(f"{page}nobody/").status_code == 404
    start = client.get(reverse("labeling:bug", args=[study.slug, now.number, bugs[4].number])).content.decode()
    assert f'data-guidance="{page}"' in start
    for person, status in ((lee, 403), (charlie, 404)):
        client.force_login(person)
        assert client.get(page).status_code == client.get(fragment).status_code == status


def test_over_rest(study, now, bugs, alice, lee):
    api = APIClient()
    api.force_authenticate(alice)
    address = f"/api/v1/studies/frameworks/rounds/{now.number}/bugs/{bugs[4].number}/guidance/"
    told = {one["category"]: [each["bug"] for each in one["examples"]] for one in api.get(address).json()}
    assert told == {"type": [1, 2, 3], "shape": [4], "api": [], "training": [1, 2, 3], "deployment": []}
    api.force_authenticate(lee)
    assert api.get(address).status_code == 403
