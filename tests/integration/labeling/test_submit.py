"""One rater's submission: what is stored, and what is refused without a trace."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from annotator.codebook.models import Category
from annotator.history.models import Event
from annotator.labeling.actions import freeze, park, save_draft, skip, submit
from annotator.labeling.models import Answer, Assignment
from annotator.labeling.places import next_for
from annotator.labeling.submission import Pin, Submission
from annotator.web.errors import BadInput, Refused
from tests.factories import answer

GOOD = {"cause": "type", "stage": "training"}


def test_submission_stores_one_answer_a_facet_and_the_verdict(main_round, bugs, alice):
    done = answer(main_round, bugs[0], alice, GOOD, confidence="sure", note="Slot is half.")
    stored = {row.facet.key: row.category.name for row in done.answers.all()}
    assert stored == {"verdict": "bug", "cause": "type", "stage": "training"}
    assert done.state == "submitted"
    assert done.revision == 1


def test_same_submission_twice_counts_once(main_round, bugs, alice):
    answer(main_round, bugs[0], alice, GOOD, key="k1")
    again = answer(main_round, bugs[0], alice, GOOD, key="k1")
    assert again.revision == 1
    assert Event.objects.filter(verb="answered").count() == 1


def test_later_answer_is_a_new_revision_and_the_old_one_stays(main_round, bugs, alice):
    answer(main_round, bugs[0], alice, GOOD)
    answer(main_round, bugs[0], alice, GOOD | {"cause": "shape"})
    rows = Answer.objects.filter(bug=bugs[0], facet__key="cause").order_by("revision")
    assert [(row.category.name, row.is_current) for row in rows] == [("type", False), ("shape", True)]


PIN = Pin(kind="line", anchor="f0n2", place="a.py:2", quote="y")
WHOLE: dict[str, Any] = {"confidence": "sure", "note": "Slot is half.", "pins": [PIN]}


def test_an_unchanged_answer_saved_again_adds_nothing_but_its_time(main_round, bugs, alice):
    answer(main_round, bugs[0], alice, GOOD, active_seconds=30, key="k1", **WHOLE)
    events = Event.objects.count()
    for _ in range(2):  # sent twice, as after a lost connection: its time counts once
        again = answer(main_round, bugs[0], alice, GOOD, active_seconds=12, key="k2", **WHOLE)
    assert (again.revision, again.active_seconds) == (1, 42)
    assert Answer.objects.filter(assignment=again).count() == 3
    assert again.evidence.count() == 1
    assert Event.objects.count() == events


def test_a_reason_saved_again_unchanged_adds_nothing(main_round, bugs, alice):
    for key in ("k1", "k2"):
        done = answer(main_round, bugs[0], alice, {}, not_a_bug="new feature", key=key)
    assert done.revision == 1
    assert answer(main_round, bugs[0], alice, {}, not_a_bug="documentation").revision == 2


@pytest.mark.parametrize(
    "change", [{"confidence": ""}, {"note": "Slot is whole."}, {"pins": []}, {"pins": [replace(PIN, quote="z")]}]
)
def test_whatever_is_changed_is_a_new_revision(main_round, bugs, alice, change):
    answer(main_round, bugs[0], alice, GOOD, **WHOLE)
    assert answer(main_round, bugs[0], alice, GOOD, **(WHOLE | change)).revision == 2
    assert Event.objects.filter(verb="changed an answer").count() == 1


def test_not_a_bug_answers_the_verdict_alone(main_round, bugs, alice):
    done = answer(main_round, bugs[0], alice, {}, not_a_bug="new feature")
    assert [row.category.name for row in done.answers.all()] == ["not a bug"]
    reason = Category.objects.get(uid=done.not_a_bug_reason)
    assert (reason.name, reason.parent.name) == ("new feature", "not a bug")


def test_unknown_reason_why_it_is_no_bug_is_refused(main_round, bugs, alice):
    with pytest.raises(BadInput, match="not among the reasons"):
        answer(main_round, bugs[0], alice, {}, not_a_bug="mood")


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"cause": "nonsense", "stage": "training"}, "no category"),
        ({"cause": ["type", "shape"], "stage": "training"}, "takes one answer"),
        ({"cause": "type"}, "no answer yet"),
        ({"cause": "type", "stage": "training", "mood": "good"}, "no facet"),
    ],
)
def test_bad_answers_are_refused_and_nothing_is_stored(main_round, bugs, alice, answers, said):
    with pytest.raises(BadInput, match=said):
        answer(main_round, bugs[0], alice, answers)
    assert not Answer.objects.exists()
    assert not Event.objects.filter(verb="answered").exists()


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_text_that_no_database_holds_is_refused(main_round, bugs, alice, text):
    with pytest.raises(BadInput):
        answer(main_round, bugs[0], alice, GOOD, note=text)


def test_another_raters_turn_is_refused(main_round, bugs, alice, bob):
    turn = Assignment.objects.get(round=main_round, bug=bugs[0], rater=alice)
    with pytest.raises(Refused):
        submit(assignment=turn, submission=Submission(answers={"cause": ["x"]}), by=bob)


def test_closed_round_takes_nothing(main_round, bugs, alice, lee):
    done = answer(main_round, bugs[0], alice, GOOD)
    freeze(round_=main_round, by=lee)
    with pytest.raises(Refused, match="closed"):
        answer(main_round, bugs[1], alice, GOOD)
    with pytest.raises(DatabaseError), transaction.atomic():
        Answer.objects.filter(assignment=done).update(is_current=False)


def test_answer_is_never_overwritten_even_by_hand(main_round, bugs, alice):
    done = answer(main_round, bugs[0], alice, GOOD)
    row = done.answers.get(facet__key="cause")
    other = row.facet.categories.get(name="api")
    with pytest.raises(DatabaseError), transaction.atomic():
        Answer.objects.filter(pk=row.pk).update(category=other)
    with pytest.raises(DatabaseError), transaction.atomic():
        row.delete()


def test_second_current_answer_in_one_slot_is_refused(main_round, bugs, alice):
    row = answer(main_round, bugs[0], alice, GOOD).answers.get(facet__key="cause")
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


def test_skip_frees_the_place_and_coming_back_takes_it_again(main_round, bugs, alice):
    turn = Assignment.objects.get(round=main_round, bug=bugs[0], rater=alice)
    place = main_round.round_bugs.get(bug=bugs[0])
    skip(assignment=turn, reason="knowledge", by=alice)
    place.refresh_from_db()
    assert place.taken == 1
    answer(main_round, bugs[0], alice, GOOD)
    place.refresh_from_db()
    assert place.taken == 2


def test_parked_bug_comes_after_all_others(main_round, alice):
    first = next_for(main_round, alice)
    park(assignment=first, by=alice)
    seen = []
    while (turn := next_for(main_round, alice)) and turn.pk != first.pk:
        seen.append(turn.pk)
        skip(assignment=turn, reason="knowledge", by=alice)
    assert len(seen) == 5
    assert next_for(main_round, alice).pk == first.pk


def test_draft_is_kept_for_its_owner(main_round, alice, bob):
    turn = next_for(main_round, alice)
    save_draft(assignment=turn, draft={"note": "half a thought"}, by=alice)
    turn.refresh_from_db()
    assert turn.draft == {"note": "half a thought"}
    with pytest.raises(Refused):
        save_draft(assignment=turn, draft={"note": "mine now"}, by=bob)


def test_history_cannot_be_changed_or_deleted(main_round):
    event = Event.objects.get(verb="opened a round")
    with pytest.raises(DatabaseError), transaction.atomic():
        Event.objects.filter(pk=event.pk).update(verb="did nothing")
    with pytest.raises(DatabaseError), transaction.atomic():
        event.delete()
