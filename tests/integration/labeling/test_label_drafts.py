"""Drafts of the labelling page, and what it cannot have sent."""

import pytest

from annotator.labeling.models import Answer, Assignment
from tests.integration.labeling.label_page import turn_of, url


def test_a_draft_outlives_the_session(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    kept = rater.post(url(turn, "draft"), fields({"cause": "shape"}, note="half way", draft_at=""))
    assert kept.status_code == 200
    assert kept.json()["kept_at"]
    rater.logout()
    rater.force_login(alice)
    text = rater.get(url(turn)).content.decode()
    assert ">half way</textarea>" in text
    assert f'data-draft-at="{kept.json()["kept_at"]}"' in text


def test_a_draft_from_a_page_that_knows_less_does_not_overwrite_the_newer(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    rater.post(url(turn, "draft"), fields(note="newer", draft_at=""))
    assert rater.post(url(turn, "draft"), fields(note="older", draft_at="")).status_code == 409
    turn.refresh_from_db()
    assert turn.draft["note"] == "newer"
    assert rater.post(url(turn, "draft"), fields(note="chosen", draft_at="", force="yes")).status_code == 200


def test_an_open_page_of_one_rater_gives_nothing_to_another_who_signed_in(rater, main_round, alice, bob, fields):
    """In one browser all pages share a session: whoever signed in last."""
    turn = turn_of(main_round, bob)
    page = rater.get(url(Assignment.objects.get(round=main_round, rater=alice, bug=turn.bug))).content.decode()
    assert page.count('name="rater" value="alice"') == 3
    rater.force_login(bob)
    kept = rater.post(url(turn, "draft"), fields(note="of alice", rater="alice", draft_at="", force="yes"))
    assert (kept.status_code, kept["Content-Type"]) == (403, "application/json")
    saved = rater.post(url(turn), fields(rater="alice"))
    assert saved.status_code == 409
    assert "This is the page of alice" in saved.content.decode()
    turn.refresh_from_db()
    assert (turn.state, turn.draft) == ("todo", None)
    assert rater.post(url(turn, "draft"), fields(note="of bob", rater="bob", draft_at="")).status_code == 200


def test_a_draft_that_arrives_after_the_answer_is_not_kept(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    rater.post(url(turn), fields())
    assert rater.post(url(turn, "draft"), fields(note="late", draft_at="")).status_code == 409
    turn.refresh_from_db()
    assert turn.draft is None


def test_a_draft_that_was_written_by_another_program_cannot_break_the_page(rater, main_round, alice):
    turn = turn_of(main_round, alice)
    for draft in ({"answers": 7}, {"pins": [{"kind": 1}, "x"]}, {"note": None, "active_seconds": "x"}):
        Assignment.objects.filter(pk=turn.pk).update(draft=draft)
        assert rater.get(url(turn)).status_code == 200


@pytest.mark.parametrize(
    "bad",
    [
        {"confidence": "very"},
        {"pin": "not json"},
        {"pin": '{"kind":"line"}'},
        {"pin": '{"kind":"other","anchor":"a","place":"b","quote":"c"}'},
        {"note": "a\x00b"},
        {"f-cause": "no-such-uid"},
        {"f-nothing": "x"},
    ],
)
def test_what_the_page_cannot_have_sent_is_refused_and_stores_nothing(rater, main_round, alice, fields, bad):
    turn = turn_of(main_round, alice)
    assert rater.post(url(turn), fields(**bad)).status_code in {400, 422}
    assert not Answer.objects.exists()
