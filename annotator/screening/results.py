"""What became of the candidates of screenings that are over, as pages and programs show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from annotator.accounts.models import User
from annotator.screening import queries
from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.studies.models import Study

PAGE = 50
WHAT = {
    "candidates": "Candidates",
    "reading": "Being read",
    "unread": "Not read",
    "conflict": "In conflict",
    "excluded": "Excluded",
    "included": "Included",
    "dropped": "Dropped later",
    "kept": "In now",
}


@dataclass(frozen=True)
class Said:
    """What one reviewer says of a candidate: the latest vote, and the blind one where that was another."""

    reviewer: User
    vote: Vote | None  # none: the candidate was dealt to them and not voted on
    blind: Vote | None = None


@dataclass(frozen=True)
class Line:
    """One candidate with everything that was said of it."""

    candidate: Candidate
    said: tuple[Said, ...]
    outcome: Outcome | None


@dataclass(frozen=True)
class Lines:
    lines: tuple[Line, ...]
    next_after: str  # where the next page begins; empty on the last


@dataclass(frozen=True)
class Reason:
    criterion: Criterion
    excluded: int


def listed(study: Study, what: str, *, reason: str = "", screening: Screening | None = None, after: str = "") -> Lines:
    """A page of the candidates behind a count."""
    if what == "candidates":
        rows = Candidate.objects.filter(study=study)
    else:
        rows = queries.candidates(study, what, reason=reason)
    if screening is not None:
        rows = rows.filter(screening=screening)
    return page_of(rows, after=after)


def page_of(rows: "QuerySet[Candidate]", *, after: str = "") -> Lines:
    """By screening and position; `after` names the last one shown, such as 1.50."""
    number, _, position = after.partition(".")
    if _is_whole(number) and _is_whole(position):
        further = Q(screening__number__gt=int(number)) | Q(screening__number=int(number), position__gt=int(position))
        rows = rows.filter(further)
    rows = rows.select_related("item__repository", "screening").order_by("screening__number", "position")
    found = list(rows[: PAGE + 1])
    shown = found[:PAGE]
    last = f"{shown[-1].screening.number}.{shown[-1].position}" if len(found) > PAGE else ""
    return Lines(tuple(lines_of(shown)), last)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def lines_of(candidates: Sequence[Candidate]) -> list[Line]:
    """Of candidates whose screening is open nothing is said but what they are."""
    over = [one.pk for one in candidates if not one.screening.is_open]
    votes: dict[int, list[Vote]] = {}
    for vote in Vote.objects.filter(candidate__in=over).select_related("criterion", "reviewer").order_by("turn"):
        votes.setdefault(vote.candidate_id, []).append(vote)
    dealt: dict[int, list[User]] = {}
    for reading in Reading.objects.filter(candidate__in=over).select_related("reviewer"):
        dealt.setdefault(reading.candidate_id, []).append(reading.reviewer)
    current = Outcome.objects.current().filter(candidate__in=over).select_related("criterion", "by")
    outcomes = {outcome.candidate_id: outcome for outcome in current}
    return [Line(one, _said(votes.get(one.pk, []), dealt.get(one.pk, [])), outcomes.get(one.pk)) for one in candidates]


def _said(votes: Sequence[Vote], dealt: Sequence[User]) -> tuple[Said, ...]:
    people = {person.pk: person for person in [*dealt, *(vote.reviewer for vote in votes)]}
    latest = {vote.reviewer_id: vote for vote in votes}
    blind = {vote.reviewer_id: vote for vote in votes if vote.turn == Vote.BLIND}
    return tuple(
        Said(person, latest.get(pk), blind.get(pk) if latest.get(pk) != blind.get(pk) else None)
        for pk, person in sorted(people.items(), key=lambda pair: pair[1].username)
    )


def line_of(screening: Screening, position: int) -> Line | None:
    rows = screening.candidates.select_related("item__repository", "item__text", "screening")
    found = rows.filter(position=position).first()
    return lines_of([found])[0] if found else None


def earlier_outcomes(candidate: Candidate) -> list[Outcome]:
    """Superseded ones, the latest first."""
    rows = Outcome.objects.filter(candidate=candidate, is_current=False).select_related("criterion", "by")
    return list(rows.order_by("-pk"))


def conflicts(screening: Screening) -> "QuerySet[Candidate]":
    return queries.candidates(screening.study, "conflict").filter(screening=screening)


def conflict_after(screening: Screening, position: int) -> int | None:
    """The next conflict of the screening; after the last one the first."""
    rows = conflicts(screening).exclude(position=position).order_by("position")
    found = rows.filter(position__gt=position).first() or rows.first()
    return found.position if found else None
