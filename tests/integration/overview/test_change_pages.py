"""The pages of changes: previewed, planned, withdrawn, undone by leads; read by the study; unknown to strangers."""

from typing import Any

import pytest
from django.test import Client

from annotator.codebook.actions import edit_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.models import Category, Change
from annotator.labeling.models import Round
from annotator.overview.rounds.closing import close_round
from tests.factories import answer

BOOK = "/frameworks/codebook/"
GOOD = {"cause": "type", "stage": "training"}


def client(user: Any) -> Client:
    made = Client()
    made.force_login(user)
    return made


def row(name: str) -> Category:
    return Category.objects.get(name=name, state="active")


def page(who: Any, path: str, **data: Any) -> str:
    answered = client(who).get(BOOK + path, data)
    assert answered.status_code == 200
    return answered.content.decode()


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee) -> Round:
    for place, bug in enumerate(bugs):
        answer(main_round, bug, alice, GOOD | {"cause": "shape" if place < 2 else "type"})
        answer(main_round, bug, bob, GOOD | {"cause": "shape" if place == 1 else "type"})
    return close_round(round_=main_round, by=lee)


def merge(lee: Any, into: str = "type", **more: Any) -> Any:
    shape = row("shape").uid
    sent = {"into": row(into).uid, "reason": "one thing", "version": "1", "act": "apply"} | more
    return client(lee).post(f"{BOOK}categories/{shape}/merge/", sent)


# --- before


def test_a_merge_is_previewed_with_kappa_as_answered_and_as_mapped(closed, lee):
    shown = page(lee, f"categories/{row('shape').uid}/merge/", into=row("type").uid)
    assert "3 answers in 1 round." in shown
    assert "as answered" in shown
    assert ".57" in shown
    assert "Round 1" in shown
    assert not Change.objects.exists()


def test_a_choice_alone_swaps_the_preview(closed, lee):
    answered = client(lee).get(
        f"{BOOK}categories/{row('shape').uid}/merge/", {"into": row("type").uid}, headers={"hx-request": "true"}
    )
    assert b"3 answers in 1 round." in answered.content
    assert b"<html" not in answered.content


@pytest.mark.parametrize("act", ["split", "meaning", "retire"])
def test_the_others_show_what_they_touch_at_once(closed, lee, act):
    shown = page(lee, f"categories/{row('shape').uid}/{act}/")
    assert "3 answers in 1 round." in shown


def test_with_an_open_round_it_is_said_that_it_waits(main_round, lee):
    shown = page(lee, f"categories/{row('shape').uid}/merge/", into=row("type").uid)
    assert "Waits for the end of Round 1" in shown
    assert "No answer of a round that is over." in shown


# --- doing


def test_a_merge_is_done_and_its_change_shown(closed, lee):
    answered = merge(lee)
    assert (answered.status_code, answered.url) == (302, f"{BOOK}changes/1/")
    shown = page(lee, "changes/1/")
    assert "“shape” was merged into “type”" in shown
    assert "In force since" in shown
    assert "one thing" in shown


def test_without_a_reason_nothing_is_done_and_the_preview_stays(closed, lee):
    answered = merge(lee, reason=" ")
    assert answered.status_code == 400
    assert b"3 answers in 1 round." in answered.content
    assert not Change.objects.exists()


def test_showing_what_it_touches_does_nothing(closed, lee):
    answered = merge(lee, act="preview", reason="")
    assert answered.status_code == 200
    assert b"3 answers in 1 round." in answered.content
    assert not Change.objects.exists()


def test_who_comes_second_is_told_and_keeps_the_text(closed, lee):
    edit_category(category=row("shape"), by=lee, change=CategoryChange(name="form"))
    sent = {"into": row("type").uid, "reason": "one thing", "version": "1", "act": "apply"}
    answered = client(lee).post(f"{BOOK}categories/{row('form').uid}/merge/", sent)
    shown = answered.content.decode()
    assert answered.status_code == 409
    assert "“shape” was renamed “form”" in shown
    assert "one thing" in shown
    assert 'name="version" value="2"' in shown
    assert client(lee).post(f"{BOOK}categories/{row('form').uid}/merge/", sent | {"version": "2"}).status_code == 302


def test_a_split_takes_its_parts_and_offers_the_relabel_round(closed, lee, alice):
    sent = {"name-1": "of values", "name-2": "of dtypes", "definition-2": "d", "reason": "two", "version": "1"}
    answered = client(lee).post(f"{BOOK}categories/{row('type').uid}/split/", sent)
    assert answered.status_code == 302
    assert row("of dtypes").definition == "d"
    shown = page(lee, "changes/")
    assert "To be labelled again" in shown
    assert "5 bugs with 2 raters" in shown
    opened = client(lee).post(f"{BOOK}changes/1/relabel/")
    assert opened.url == "/frameworks/rounds/2/"
    assert "To be labelled again" not in page(lee, "changes/")
    assert "Relabel after change 1" in page(alice, "changes/1/")


def test_one_part_is_no_split(closed, lee):
    sent = {"name-1": "of values", "name-2": "", "reason": "two", "version": "1"}
    assert client(lee).post(f"{BOOK}categories/{row('type').uid}/split/", sent).status_code == 400


def test_a_meaning_is_changed_and_a_category_retired(closed, lee):
    sent = {"definition": "Of types.", "reason": "narrower", "version": "1"}
    assert client(lee).post(f"{BOOK}categories/{row('type').uid}/meaning/", sent).status_code == 302
    shown = page(lee, "changes/1/")
    assert "<ins>Of types.</ins>" in shown
    assert client(lee).post(f"{BOOK}categories/{row('api').uid}/retire/", {"reason": "unused"}).status_code == 302
    assert Category.objects.get(name="api").state == "retired"


# --- afterwards


def test_what_waits_is_listed_withdrawn_and_carried_out(main_round, lee):
    merge(lee)
    shown = page(lee, "changes/")
    assert "Waiting" in shown
    assert "Round 1" in shown
    refused = client(lee).post(f"{BOOK}changes/1/carry-out/")
    assert refused.status_code == 409
    assert b"waits for the end of Round 1" in refused.content
    assert client(lee).post(f"{BOOK}changes/1/withdraw/").status_code == 302
    assert "Withdrawn" in page(lee, "changes/1/")
    merge(lee)
    close_round(round_=main_round, by=lee)
    assert "In force since" in page(lee, "changes/2/")


def test_a_change_is_undone_on_its_page(closed, lee):
    merge(lee)
    assert "Nothing was labelled with it since" in page(lee, "changes/1/")
    answered = client(lee).post(f"{BOOK}changes/1/undo/", {"reason": "they differ"})
    assert answered.url == f"{BOOK}changes/2/"
    assert row("shape").merged_into is None
    assert "It is undone by" in page(lee, "changes/1/")
    again = client(lee).post(f"{BOOK}changes/1/undo/", {"reason": "again"})
    assert again.status_code == 409
    assert b"undone already" in again.content


def test_an_edit_is_undone_without_a_reason(closed, lee):
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind"))
    client(lee).post(f"{BOOK}changes/1/undo/")
    assert row("type").uid


def test_a_version_says_what_changed_and_led_there(closed, lee, alice):
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind", definition="d"), reason="clearer")
    merge(lee, into="kind", version="2")
    shown = page(alice, "versions/3/", since="1")
    assert "What changed since v1" in shown
    assert "“type” was renamed “kind”." in shown
    assert "“shape” was merged into “kind”." in shown
    assert "Changes that led here" in shown
    first = page(alice, "versions/1/")
    assert "shape" in first
    assert "What changed" not in first
    assert client(alice).get(f"{BOOK}versions/9/").status_code == 404


def test_the_list_goes_on_below_fifty(closed, lee):
    for name in range(52):
        edit_category(
            category=row("type") if name == 0 else row(f"t{name - 1}"), by=lee, change=CategoryChange(name=f"t{name}")
        )
    assert 'href="?before=3"' in page(lee, "changes/")
    assert "“type” was renamed “t0”" in page(lee, "changes/", before=3)


# --- who


PAGES = ["changes/", "changes/1/", "versions/1/"]
FORMS = ["merge", "split", "meaning", "retire"]
ACTS = ["undo", "withdraw", "carry-out", "relabel"]


def test_everybody_in_the_study_reads_and_only_leads_act(closed, lee, alice):
    merge(lee)
    for path in PAGES:
        assert "Undo change" not in page(alice, path)
    for act in FORMS:
        assert client(alice).get(f"{BOOK}categories/{row('api').uid}/{act}/").status_code == 403
    for act in ACTS:
        assert client(alice).post(f"{BOOK}changes/1/{act}/").status_code == 403


def test_a_stranger_finds_nothing(closed, lee, charlie):
    merge(lee)
    for path in [*PAGES, *(f"categories/{row('api').uid}/{act}/" for act in FORMS)]:
        assert client(charlie).get(BOOK + path).status_code == 404
    for act in ACTS:
        assert client(charlie).post(f"{BOOK}changes/1/{act}/").status_code == 404
