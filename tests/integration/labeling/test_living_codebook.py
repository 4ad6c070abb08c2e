"""The codebook changes while a round is open: what is clarified or added is there at once, and raters are told once."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotator.codebook.actions import add_category, edit_category, remove_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.choices import choices_of
from annotator.codebook.models import Category, Codebook
from annotator.labeling.models import Answer, Assignment, Round
from annotator.overview.rounds.closing import close_round
from tests.factories import answer

HTMX = {"hx-request": "true"}
GOOD = {"cause": "type", "stage": "training"}


@pytest.fixture
def rater(alice) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def row(name: str) -> Category:
    return Category.objects.get(name=name, state="active")


def add(lee: Any) -> Category:
    return add_category(facet=row("type").facet, by=lee, change=CategoryChange(name="leak", definition="Grows."))


def label(round_: Round) -> str:
    return reverse("labeling:label", args=[round_.study.slug, round_.number])


def fields(seen: int, **more: Any) -> dict[str, Any]:
    chosen = {"f-cause": row("type").uid, "f-stage": row("training").uid}
    return chosen | {"act": "submit", "revision": "0", "codebook": str(seen)} | more


def save(rater: Client, round_: Round, place: int, seen: int, **more: Any) -> str:
    turn = Assignment.objects.filter(round=round_, rater__username="alice").order_by("position")[place]
    address = reverse("labeling:bug", args=[round_.study.slug, round_.number, turn.bug.number])
    return rater.post(address, fields(seen, **more), headers=HTMX).content.decode()


def test_each_answer_says_under_which_version_it_was_given(main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, GOOD)
    edit_category(category=row("type"), by=lee, change=CategoryChange(definition="Of types."))
    answer(main_round, bugs[1], alice, GOOD)
    answer(main_round, bugs[0], alice, GOOD | {"cause": "api"})
    stamps = Answer.objects.filter(facet__key="cause").order_by("pk").values_list("version", flat=True)
    assert list(stamps) == [1, 2, 2]


def test_an_answer_holds_only_what_its_version_offers(main_round, bugs, alice, study, lee):
    before = Codebook.objects.get(study=study)
    leak = add(lee)
    assert leak.uid not in choices_of(before).facets["cause"].categories
    assert leak.uid in choices_of(Codebook.objects.get(study=study)).facets["cause"].categories


def test_what_is_added_and_clarified_is_on_the_page_at_once(main_round, rater, lee):
    add(lee)
    edit_category(category=row("type"), by=lee, change=CategoryChange(definition="Wrong type given."))
    page = rater.get(label(main_round)).content.decode()
    assert "leak" in page
    assert "Wrong type given." in page
    assert "codebook v3" in page
    assert "Changed since your last bug" not in page  # there was none


def test_a_rater_is_told_once_with_the_next_bug(main_round, rater, lee, alice, bugs):
    page = save(rater, main_round, 0, seen=1)
    assert "Changed since your last bug" not in page
    add(lee)
    page = save(rater, main_round, 1, seen=1)
    assert "Changed since your last bug" in page
    assert "“leak” was added to “Cause”" in page
    assert "Look again at your own earlier answers" in page
    page = save(rater, main_round, 2, seen=2)
    assert "Changed since your last bug" not in page


def test_who_comes_back_the_next_day_is_told_too(main_round, rater, lee):
    save(rater, main_round, 0, seen=1)
    add(lee)
    assert "Changed since your last bug" in rater.get(label(main_round)).content.decode()
    save(rater, main_round, 1, seen=2)
    assert "Changed since your last bug" not in rater.get(label(main_round)).content.decode()


def test_it_costs_no_statement(main_round, rater, lee, django_assert_num_queries):
    save(rater, main_round, 0, seen=1)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as before:
        save(rater, main_round, 1, seen=1)
    add(lee)
    save(rater, main_round, 2, seen=1)  # the process reads the two versions once
    with CaptureQueriesContext(connection) as after:
        page = save(rater, main_round, 3, seen=1)
    assert "Changed since your last bug" in page
    assert len(after) == len(before)


def test_a_second_look_lists_ones_own_earlier_answers_alone(main_round, rater, alice, bob, bugs, lee):
    answer(main_round, bugs[0], alice, GOOD)
    answer(main_round, bugs[1], bob, GOOD)
    add(lee)
    answer(main_round, bugs[2], alice, GOOD)
    page = rater.get(reverse("labeling:again", args=["frameworks", main_round.number]), {"since": "1"})
    (look,) = page.context["looks"]
    assert [number for number, _ in look.bugs] == [bugs[0].number]


def test_of_a_clarified_category_those_that_hold_it(main_round, rater, alice, bugs, lee):
    answer(main_round, bugs[0], alice, GOOD)
    answer(main_round, bugs[1], alice, GOOD | {"cause": "api"})
    edit_category(category=row("api"), by=lee, change=CategoryChange(include="Wrong call."))
    page = rater.get(reverse("labeling:again", args=["frameworks", main_round.number]))
    (look,) = page.context["looks"]
    assert [number for number, _ in look.bugs] == [bugs[1].number]


def test_a_retired_category_is_named_where_an_answer_holds_it(main_round, rater, alice, bugs, lee):
    answer(main_round, bugs[0], alice, GOOD | {"cause": "api"})
    remove_category(category=row("api"), by=lee, reason="too broad")
    address = reverse("labeling:bug", args=["frameworks", main_round.number, bugs[0].number])
    page = rater.get(address).content.decode()
    assert "No longer offered:</b> api" in page


def test_a_closed_round_keeps_the_version_at_its_close_and_offers_no_second_look(main_round, rater, alice, bugs, lee):
    answer(main_round, bugs[0], alice, GOOD)
    add(lee)
    closed = close_round(round_=main_round, by=lee)
    assert closed.codebook_version is not None
    assert closed.codebook_version.number == 2
    page = rater.get(reverse("labeling:again", args=["frameworks", main_round.number]), {"since": "1"})
    assert page.context["looks"] == []


def test_a_stranger_finds_no_second_look(main_round, charlie):
    client = Client()
    client.force_login(charlie)
    assert client.get(reverse("labeling:again", args=["frameworks", main_round.number])).status_code == 404


def test_a_program_is_told_the_same(main_round, rater, alice, bugs, lee):
    answer(main_round, bugs[0], alice, GOOD)
    add(lee)
    told = rater.get(f"/api/v1/studies/frameworks/rounds/{main_round.number}/mine/again/").json()
    assert told == [
        {"kind": "added", "facet": "cause", "says": "“leak” was added to “Cause”", "bugs": [bugs[0].number]}
    ]
