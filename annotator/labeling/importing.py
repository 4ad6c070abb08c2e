"""Rounds whose answers come from sheets. They never take answers in the browser, and further sheets add to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.accounts.models import User
from annotator.codebook.queries import present_version
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows, refresh_statistics
from annotator.web.withdrawing import Brought, take_out

BATCH = 500
KINDS = (
    ("answer", Answer, "an answer"),
    ("assignment", Assignment, "a rater's turn"),
    ("round_bug", RoundBug, "a bug of a round"),
    ("round", Round, "a round"),
)
TURN = ("bug_id", "rater_id", "position", "confidence", "note", "not_a_bug_reason")
ANSWER = ("assignment_id", "bug_id", "rater_id", "facet_id", "category_id", "slot", "cell")


@dataclass(frozen=True, slots=True)
class SheetTurn:
    """One rater's turn at one bug, as a sheet holds it."""

    bug_id: int
    rater_id: int
    confidence: str = ""
    note: str = ""
    not_a_bug_reason: str = ""


class SheetAnswer(NamedTuple):
    """In the order of the columns of ANSWER."""

    assignment_id: int
    bug_id: int
    rater_id: int
    facet_id: int
    category_id: int
    slot: int
    cell: str


@transaction.atomic
def imported_round(*, study: Study, name: str, blindness: str, by: User | None) -> Round:
    """The imported round of that name, made if it isn't there; its row is held until the transaction ends."""
    found = Round.objects.select_for_update(of=("self",)).filter(study=study, name=name).first()
    if found:
        return found
    latest = Round.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    return Round.objects.create(
        study=study,
        number=latest + 1,
        name=name,
        kind=Round.Kind.MAIN,
        state=Round.State.IMPORTED,
        blindness=blindness,
        overlap=0,
        codebook_version=present_version(study.pk),
        opened_by=by,
    )


@transaction.atomic
def add_round_bugs(*, round_: Round, places: Mapping[int, int]) -> None:
    """Bugs of the round, each with its number of raters: all their places are taken."""
    last = RoundBug.objects.filter(round=round_).aggregate(last=Max("position"))["last"]
    start = 0 if last is None else last + 1
    rows = ((bug, position, taken, taken) for position, (bug, taken) in enumerate(places.items(), start))
    insert_rows(RoundBug, ("bug_id", "position", "overlap", "taken"), rows, round_id=round_.pk)


@transaction.atomic
def add_turns(*, round_: Round, rows: Sequence[SheetTurn]) -> dict[tuple[int, int], int]:
    """Submitted turns; ids by (bug, rater), of all turns of the round."""
    last = Assignment.objects.filter(round=round_).aggregate(last=Max("position"))["last"]
    start = 0 if last is None else last + 1
    insert_rows(
        Assignment,
        TURN,
        (
            (row.bug_id, row.rater_id, at, row.confidence, row.note, row.not_a_bug_reason)
            for at, row in enumerate(rows, start)
        ),
        round_id=round_.pk,
        state=Assignment.State.SUBMITTED.value,
        submitted_at=timezone.now(),
        revision=1,
    )
    turns = Assignment.objects.filter(round=round_).values_list("bug_id", "rater_id", "pk")
    return {(bug, rater): pk for bug, rater, pk in turns}


@transaction.atomic
def add_notes(*, notes: Mapping[int, tuple[str, str]]) -> None:
    """Note and confidence of turns that had none, by id."""
    turns = [Assignment(pk=pk, note=note, confidence=sure) for pk, (note, sure) in notes.items()]
    Assignment.objects.bulk_update(turns, ["note", "confidence"], batch_size=BATCH)


@transaction.atomic
def add_answers(*, round_: Round, rows: Iterable[SheetAnswer]) -> int:
    """Stamped with the codebook's version in force, which holds what the sheet has added."""
    version = present_version(round_.study_id)
    return insert_rows(Answer, ANSWER, rows, round_id=round_.pk, version=version.number if version else 0)


@transaction.atomic
def count_places(*, round_: Round) -> None:
    """After further sheets, or fewer: each bug of an imported round has as many places as raters answered it."""
    turns = Assignment.objects.filter(round=OuterRef("round"), bug=OuterRef("bug")).values("bug")
    taken = Coalesce(Subquery(turns.annotate(n=Count("pk")).values("n")), 0)
    RoundBug.objects.filter(round=round_).update(overlap=taken, taken=taken)


@transaction.atomic
def finish_sheet(*, round_: Round) -> None:
    """What a sheet has changed about its round as a whole."""
    refresh_statistics(Assignment, Answer, RoundBug)
    most = RoundBug.objects.filter(round=round_).aggregate(most=Max("overlap"))["most"] or 0
    Round.objects.filter(pk=round_.pk).update(overlap=most, codebook_version=present_version(round_.study_id))


@transaction.atomic
def withdraw_sheet(*, brought: Brought) -> None:
    """Answers, turns and rounds that a sheet brought, taken back inside the undo of its import."""
    take_out(brought, KINDS)


@transaction.atomic
def take_back_notes(*, notes: Mapping[int, tuple[str, str]]) -> None:
    """Note and confidence that a sheet filled into turns that were there, by id; empty where it filled nothing."""
    for turn in Assignment.objects.filter(pk__in=notes):
        note, confidence = notes[turn.pk]
        turn.note = "" if note and turn.note == note else turn.note
        turn.confidence = "" if confidence and turn.confidence == confidence else turn.confidence
        turn.save(update_fields=["note", "confidence"])
