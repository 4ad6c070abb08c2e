"""What triggers refuse: each guard, broken on purpose."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management.sql import emit_pre_migrate_signal
from django.db import DatabaseError, transaction

from annotator.codebook.models import Version
from annotator.history.models import Event, Seal
from annotator.history.tasks import seal
from annotator.labeling.models import Answer, Assignment, Round
from annotator.overview import guards
from annotator.overview.closing import close_round
from annotator.screening.actions import close
from annotator.screening.models import Candidate, Outcome, Reading, Screening, Vote
from tests.factories import answer, make_round
from tests.factories.screening import make_screening, screen

GOOD = {"cause": "type", "stage": "training"}


def event() -> Any:
    return Event.objects.filter(verb="opened a round")


def given_again() -> None:
    row = Answer.objects.filter(round__state="closed").first()
    row.pk, row.is_current = None, False
    row.save(force_insert=True)


def given(state: str) -> Any:
    """An answer of the round in that state, with its key of the facet's other category at hand."""
    return Answer.objects.filter(round__state=state, facet__key="cause")


def another_category() -> int:
    return given("open").get().facet.categories.get(name="api").pk


def turns(state: str) -> Any:
    return Assignment.objects.filter(round__state=state)


def votes(state: str) -> Any:
    return Vote.objects.filter(candidate__screening__state=state)


def voted(state: str, turn: int) -> None:
    candidate = Candidate.objects.filter(screening__state=state, position=2).get()
    Vote.objects.create(candidate=candidate, reviewer_id=votes(state)[0].reviewer_id, turn=turn, decision="include")


def outcomes() -> Any:
    return Outcome.objects.filter(candidate__screening__state="closed")


def decided_early() -> None:
    Outcome.objects.create(candidate=votes("open")[0].candidate, decision="include", source="single")


BREAKS: dict[str, Callable[[], Any]] = {
    "event_stays": lambda: event().update(verb="did nothing"),
    "event_remains": lambda: event().delete(),
    "seal_stays": lambda: Seal.objects.update(digest="0" * 64),
    "seal_remains": lambda: Seal.objects.all().delete(),
    "version_stays": lambda: Version.objects.update(document={}),
    "version_remains": lambda: Version.objects.all()._raw_delete("default"),
    "answer_late": given_again,
    "answer_changed": lambda: given("closed").update(is_current=False),
    "answer_overwritten": lambda: given("open").update(category=another_category()),
    "answer_removed": lambda: given("open").delete(),
    "assignment_late": lambda: turns("closed").update(note="on second thought"),
    "assignment_removed": lambda: turns("closed").filter(answers=None)._raw_delete("default"),
    "round_reopened": lambda: Round.objects.filter(state="closed").update(state="open", closed_at=None),
    "vote_late": lambda: voted("closed", 1),
    "vote_early": lambda: voted("open", 2),
    "vote_changed": lambda: votes("closed").update(decision="exclude"),
    "vote_removed": lambda: votes("closed").delete(),
    "reading_late": lambda: Reading.objects.filter(screening__state="closed").update(state="voted"),
    "outcome_early": decided_early,
    "outcome_overwritten": lambda: outcomes().update(decision="exclude"),
    "outcome_removed": lambda: outcomes().delete(),
    "screening_reopened": lambda: Screening.objects.filter(state="closed").update(state="open", closed_at=None),
}


@pytest.fixture
def rounds(study, bugs, alice, bob, lee) -> None:
    """A closed round with a turn that was never taken, an open one with an answer, the same of screening, a sealed history."""
    over = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    answer(over, bugs[0], alice, GOOD)
    close_round(round_=over, by=lee)
    answer(make_round(study, bugs=bugs[2:], raters=[alice, bob], by=lee), bugs[2], alice, GOOD)
    closed = make_screening(study, reviewers=[alice], by=lee)
    screen(closed, alice, {1: "in"})
    close(screening=closed, by=lee)
    screen(make_screening(study, reviewers=[alice], by=lee), alice, {1: "in"})
    seal()


def test_every_guard_is_tried_here():
    assert set(BREAKS) == set(guards.GUARDS)


@pytest.mark.parametrize("name", BREAKS)
def test_a_guard_holds(rounds, name):
    said = guards.GUARDS[name][3]
    with pytest.raises(DatabaseError, match=said), transaction.atomic():
        BREAKS[name]()


def test_the_gate_of_a_closed_round_stands(rounds):
    with pytest.raises(DatabaseError, match="closed round"), transaction.atomic():
        Round.objects.filter(state="closed").update(gate_bound=0.1)


def test_guards_are_put_back_as_often_as_one_likes(rounds):
    guards.after_migrate()
    guards.after_migrate()
    with pytest.raises(DatabaseError), transaction.atomic():
        event().delete()


def test_guards_step_aside_for_migrations(rounds):
    emit_pre_migrate_signal(verbosity=0, interactive=False, db="default")
    assert event().delete()[0] == 2
    guards.after_migrate()
