"""The reviewer's own readings: which comes next, what was voted. Never a row of anybody else's."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotator.accounts.models import User
from annotator.screening import prepared
from annotator.screening.models import Reading, Screening, Vote

State = Reading.State
PAGE = 100


@dataclass(frozen=True)
class Share:
    """How far the reviewer is with their own."""

    total: int
    voted: int

    @property
    def left(self) -> int:
        return self.total - self.voted


@dataclass(frozen=True)
class Row:
    """One line of the reviewer's own list."""

    reading: Reading
    vote: Vote | None

    @property
    def number(self) -> int:
        return self.reading.candidate.position


@dataclass(frozen=True)
class Rows:
    rows: tuple[Row, ...]
    next_after: int | None


def readings(screening: Screening, reviewer: User) -> "QuerySet[Reading]":
    """With all that a page of one shows of its item."""
    mine = Reading.objects.filter(screening=screening, reviewer=reviewer)
    return mine.select_related("candidate__item__repository", "candidate__item__text")


def reading_at(screening: Screening, reviewer: User, candidate: int, *, is_shown: bool = True) -> Reading | None:
    """The reviewer's turn at a candidate; with `is_shown` all that its page needs comes along."""
    if is_shown:
        found = readings(screening, reviewer).filter(candidate__position=candidate).first()
    else:
        found = prepared.READING.first(screening=screening.pk, reviewer=reviewer.pk, candidate=candidate)
    return _within(screening, found)


def next_reading(screening: Screening, reviewer: User) -> Reading | None:
    """The next one to read; when none is left, the next that was put off."""
    found = prepared.NEXT_READING.first(screening=screening.pk, reviewer=reviewer.pk)
    if found is None:
        found = readings(screening, reviewer).filter(state=State.LATER).order_by("position").first()
    return _within(screening, found)


def _within(screening: Screening, reading: Reading | None) -> Reading | None:
    if reading is not None:
        reading.screening = screening
    return reading


def last_voted(screening: Screening, reviewer: int) -> int | None:
    """The candidate voted on last: what an undo takes back."""
    votes = Vote.objects.blind().filter(candidate__screening=screening, reviewer=reviewer)
    return votes.order_by("-at", "-pk").values_list("candidate__position", flat=True).first()


def after(reading: Reading) -> int | None:
    """The candidate that comes after this one, to fetch it ahead."""
    found = prepared.READING_AFTER.first(
        screening=reading.screening_id, reviewer=reading.reviewer_id, position=reading.position
    )
    return found.candidate.position if found else None


def share(screening: Screening, reviewer: User) -> Share:
    mine = Reading.objects.filter(screening=screening, reviewer=reviewer).order_by().values_list("state")
    counted = dict(mine.annotate(n=Count("pk")))  # from the index alone
    return Share(sum(counted.values()), counted.get(State.VOTED.value, 0))


def own_vote(reading: Reading) -> Vote | None:
    """The blind one."""
    if reading.state != State.VOTED:
        return None
    return prepared.OWN_VOTE.first(candidate=reading.candidate_id, reviewer=reading.reviewer_id)


def own_list(screening: Screening, reviewer: User, *, state: str, after: int) -> Rows:
    """A page of the reviewer's own candidates, in the reviewer's own order."""
    mine = readings(screening, reviewer).filter(position__gt=after)
    found = list((mine.filter(state=state) if state else mine).order_by("position")[: PAGE + 1])
    shown = found[:PAGE]
    votes = Vote.objects.blind().filter(reviewer=reviewer, candidate__in=[one.candidate_id for one in shown])
    given = {vote.candidate_id: vote for vote in votes.select_related("criterion")}
    rows = tuple(Row(one, given.get(one.candidate_id)) for one in shown)
    return Rows(rows, shown[-1].position if len(found) > PAGE else None)
