from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotator.labeling.actions import skip
from annotator.labeling.models import Assignment
from annotator.overview.rounds.closing import close_round
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member
from tests.factories.reproduction import end_all, make_recipe, make_series

SAME = {"cause": "type", "stage": "training"}
OTHER = {"cause": "api", "stage": "training"}


def page(client: Client, user: Any, address: str = "/frameworks/") -> Any:
    client.force_login(user)
    return client.get(address)


def titles(response: Any) -> list[str]:
    return [step.title for step in response.context["steps"]]


def test_stranger_finds_no_such_study(client, study, charlie):
    assert page(client, charlie).status_code == 404


def test_who_is_not_signed_in_is_led_to_the_sign_in(client, study):
    assert client.get("/frameworks/").headers["Location"].startswith("/accounts/login/")


def test_brand_new_study_shows_its_lead_the_way_to_the_first_round(client, lee):
    study = StudyFactory(slug="fresh")
    member(study, lee, "lead")
    assert titles(page(client, lee, "/fresh/")) == [
        "Choose a codebook",
        "Import a sheet",
        "Or collect from GitHub",
        "Invite two raters",
    ]
    make_codebook(study, {"cause": ["type"]})
    make_bugs(study, 2)
    for name in ("one", "two"):
        member(study, UserFactory(username=name), "rater")
    assert titles(page(client, lee, "/fresh/")) == ["Open the first round"]


def test_rater_is_led_to_the_bugs_that_wait(client, main_round, alice):
    assert titles(page(client, alice)) == ["6 bugs of Round 1 wait for your answer"]


def test_rater_sees_own_progress_alone(client, main_round, bugs, alice, bob):
    answer(main_round, bugs[0], bob, SAME)
    shown = page(client, alice)
    assert [one.rater for line in shown.context["open_lines"] for one in line.progress] == [alice]
    assert b"1 of 6" not in shown.content


def test_adjudicator_and_reader_learn_nothing_of_an_open_round(client, main_round, bugs, ada, bob):
    before = page(client, ada).content
    answer(main_round, bugs[0], bob, SAME)
    assert b"bob" not in before
    assert [line.progress for line in page(client, ada).context["open_lines"]] == [[]]


def test_lead_sees_progress_and_is_told_when_everybody_is_done(client, main_round, bugs, alice, bob, lee):
    for bug in bugs:
        answer(main_round, bug, alice, SAME)
    assert titles(page(client, lee)) == []
    for bug in bugs:
        answer(main_round, bug, bob, OTHER)
    assert titles(page(client, lee)) == ["Everybody is done with Round 1"]


def test_lead_who_rates_is_not_told_that_the_other_is_done(client, study, bugs, bob, lee):
    member(study, lee, "rater")
    round_ = make_round(study, bugs=bugs[:1], raters=[lee, bob], by=lee, name="Ours")
    answer(round_, bugs[0], lee, SAME)
    before = page(client, lee).content
    answer(round_, bugs[0], bob, OTHER)
    after = page(client, lee)
    assert titles(after)[0] == "You have answered all of Ours"
    assert b"bob" not in after.content
    assert len(after.content) == len(before)


def test_lead_is_told_of_skipped_bugs(client, main_round, alice, lee):
    turn = Assignment.objects.filter(round=main_round, rater=alice).first()
    skip(assignment=turn, reason="Another reason", by=alice)
    assert titles(page(client, lee)) == ["1 bug skipped in Round 1"]


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee):
    for bug in bugs:
        answer(main_round, bug, alice, SAME)
        answer(main_round, bug, bob, OTHER if bug == bugs[0] else SAME)
    return close_round(round_=main_round, by=lee)


def test_after_the_close_disputes_wait_for_raters_and_adjudicator(client, closed, alice, ada):
    assert "You and another rater differ once" in titles(page(client, alice))
    assert titles(page(client, ada)) == ["1 dispute waits for your decision"]


def test_rounds_table_counts_bugs_with_all_answers(client, closed, ada):
    (line,) = page(client, ada).context["lines"]
    assert (line.bugs, line.answered) == (6, 6)


def test_events_leave_out_what_others_did_in_an_open_round(client, main_round, bugs, alice, bob):
    answer(main_round, bugs[0], bob, SAME)
    answer(main_round, bugs[1], alice, SAME)
    actors = {event.actor for event in page(client, alice).context["events"] if event.verb == "answered"}
    assert actors == {"alice"}


def test_events_alike_are_told_once(client, closed, lee):
    events = page(client, lee).context["events"]
    assert ("alice", 1) in [(event.actor, event.count) for event in events]
    assert len(events) <= 8


def test_a_bug_of_three_raters_is_answered_once(client, study, bugs, alice, bob, lee):
    carol = member(study, UserFactory(username="carol"), "rater")
    three = make_round(study, bugs=bugs, raters=[alice, bob, carol], by=lee)
    for bug in bugs[:4]:
        for rater in (alice, bob, carol):
            answer(three, bug, rater, SAME)
    close_round(round_=three, by=lee)
    tiles = {tile.label: tile for tile in page(client, lee).context["strip"]}
    assert (tiles["Labeling"].figure, tiles["Labeling"].text) == ("4", "of 6 with all answers")


def test_the_number_of_queries_does_not_grow_with_the_rounds(client, study, bugs, alice, bob, lee):
    def take(address: str) -> int:
        client.force_login(lee)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        return len(queries)

    for _ in range(2):
        close_round(round_=make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee), by=lee)
        make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    few = [take(address) for address in ("/frameworks/", "/frameworks/rounds/", "/frameworks/agreement/")]
    for _ in range(3):
        close_round(round_=make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee), by=lee)
    assert [take(address) for address in ("/frameworks/", "/frameworks/rounds/", "/frameworks/agreement/")] == few


def test_reproduction_counts_recipes_reproduced_and_waiting(client, study, bugs, ada, lee):
    tiles = {tile.label: tile for tile in page(client, lee).context["strip"]}
    assert [*tiles][5:7] == ["Adjudication", "Reproduction"]
    assert (tiles["Reproduction"].figure, tiles["Reproduction"].text) == ("–", "no recipes")
    end_all(make_series(bugs[0], ada), buggy="bug", fixed="no_bug")
    end_all(make_series(bugs[1], ada), buggy="bug", fixed="bug")
    make_series(bugs[2], ada)
    make_recipe(bugs[3], ada)
    tile = {tile.label: tile for tile in page(client, lee).context["strip"]}["Reproduction"]
    assert (tile.figure, tile.text, tile.waiting) == ("1", "of 4 recipes reproduced", 1)
    assert (tile.done, tile.total, tile.url) == (2, 4, "/frameworks/reproduction/")


def test_recipes_of_an_open_rounds_bugs_are_counted_for_who_may_see_them(client, main_round, bugs, ada, alice):
    end_all(make_series(bugs[0], ada), buggy="bug", fixed="no_bug")
    seen = [{tile.label: tile for tile in page(client, who).context["strip"]}["Reproduction"] for who in (ada, alice)]
    assert [tile.figure for tile in seen] == ["1", "–"]
