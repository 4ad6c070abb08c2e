"""How far a harvest is: counted from its rows each time it is looked at, in a fixed number of queries."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Least
from django.utils import timezone

from annotator.clients.github.windows import CAP
from annotator.collection.budgets import Key, keys_of, minutes_left
from annotator.collection.models import Fault, Finding, Harvest, Window

UNDERWAY = (Harvest.State.WAITING, Harvest.State.RUNNING)
RECENT = dt.timedelta(minutes=10)
AN_HOUR_AND_A_HALF = 90
COUNTED = {
    "fetched": Q(state=Finding.State.FETCHED),
    "unavailable": Q(state=Finding.State.UNAVAILABLE),
    "to_fetch": Q(state=Finding.State.FOUND),
    "passed_over": Q(state=Finding.State.PASSED_OVER),
    "lacking": Q(state=Finding.State.FETCHED) & ~Q(lacks=[]),
    "edited": Q(edited_at__isnull=False),
    "listed": Q(window__state=Window.State.LISTING),
}


@dataclass
class Line:
    """What came of one repository, or of all. `capped`: hits beyond what a search gives."""

    label: str
    starts: dt.datetime | None = None
    ends: dt.datetime | None = None
    fetched: int = 0
    unavailable: int = 0
    to_fetch: int = 0
    passed_over: int = 0
    lacking: int = 0  # items of which GitHub does not give all
    edited: int = 0
    listed: int = 0  # of the window that is being listed
    promised: int = 0  # by that window
    capped: int = 0
    partial: int = 0  # windows of which the search did not give all
    uncounted: int = 0  # windows that nobody has asked about yet
    windows: int = 0

    @property
    def found(self) -> int:
        return self.fetched + self.unavailable + self.to_fetch

    @property
    def to_list(self) -> int:
        return max(0, self.promised - self.listed)

    @property
    def missing(self) -> int:
        """What keeps it from being complete, when it has come to its end."""
        return self.unavailable + self.capped + self.partial + self.lacking

    @property
    def left(self) -> int:
        return self.to_fetch + self.to_list


@dataclass(frozen=True)
class Progress:
    harvest: Harvest
    lines: tuple[Line, ...]
    sum: Line
    unavailable: tuple[tuple[str, int], ...]  # by reason
    passed_over: tuple[tuple[str, int], ...]
    per_minute: float
    keys: tuple[Key, ...]
    faults: tuple[Fault, ...]
    at: dt.datetime = field(default_factory=timezone.now)

    @property
    def is_underway(self) -> bool:
        return self.harvest.state in UNDERWAY

    @property
    def is_over(self) -> bool:
        return self.harvest.state == Harvest.State.DONE

    @property
    def is_complete(self) -> bool:
        return self.is_over and not self.sum.missing and not self.sum.to_fetch

    @property
    def total(self) -> int:
        """The whole bar."""
        return self.sum.found + self.sum.to_list + self.sum.capped

    @property
    def minutes_left(self) -> int | None:
        return minutes_left(self.sum.left, per_minute=self.per_minute, keys=self.keys, now=self.at)

    @property
    def time_left(self) -> str:
        minutes = self.minutes_left
        if minutes is None:
            return ""
        if minutes < AN_HOUR_AND_A_HALF:
            return "a minute" if minutes == 1 else f"{minutes} minutes"
        return f"{round(minutes / 60)} hours"


def progress_of(harvest: Harvest) -> Progress:
    lines, findings = lines_of(harvest), Finding.objects.filter(harvest=harvest)
    return Progress(
        harvest=harvest,
        lines=tuple(lines),
        sum=_sum(lines),
        unavailable=_by_reason(findings, Finding.State.UNAVAILABLE),
        passed_over=_by_reason(findings, Finding.State.PASSED_OVER),
        per_minute=_pace(findings) if harvest.state == Harvest.State.RUNNING else 0.0,
        keys=tuple(keys_of(harvest)),
        faults=tuple(Fault.objects.filter(harvest=harvest).order_by("-last_at", "pk")),
    )


def lines_of(harvest: Harvest) -> list[Line]:
    """By repository."""
    names = dict(Window.objects.filter(harvest=harvest).values_list("repository_id", "repository__label"))
    counted = _counted("repository_id", harvest=harvest)
    return sorted((Line(names[pk], **row) for pk, row in counted.items()), key=lambda line: line.label.lower())


def sums_of(harvests: Sequence[Harvest]) -> dict[int, Line]:
    """Of each harvest, by its row's key."""
    counted = _counted("harvest_id", harvest__in=harvests)
    return {row.pk: Line(str(row), **counted.get(row.pk, {})) for row in harvests}


def _counted(key: str, **of: Any) -> dict[int, dict[str, Any]]:
    windows = Window.objects.filter(**of).order_by().values(key)
    rows = windows.annotate(
        windows=Count("pk"),
        starts=Min("starts"),
        ends=Max("ends"),
        uncounted=Count("pk", filter=Q(state=Window.State.WAITING)),
        partial=Count("pk", filter=Q(is_partial=True)),
        capped=Sum(F("hits") - CAP, filter=Q(is_capped=True), default=0),
        promised=Sum(Least("hits", CAP), filter=Q(state=Window.State.LISTING), default=0),
    )
    found: dict[int, dict[str, Any]] = {row[key]: {**row} for row in rows}
    findings = Finding.objects.filter(**of).order_by().values(key)
    for row in findings.annotate(**{name: Count("pk", filter=what) for name, what in COUNTED.items()}):
        found[row[key]].update(row)
    for one in found.values():
        del one[key]
    return found


def _sum(lines: list[Line]) -> Line:
    whole = Line("Sum")
    for line in lines:
        for name, value in vars(line).items():
            if isinstance(value, int):
                setattr(whole, name, getattr(whole, name) + value)
    return whole


def _by_reason(findings: "QuerySet[Finding]", state: str) -> tuple[tuple[str, int], ...]:
    rows = findings.filter(state=state).order_by().values_list("reason").annotate(count=Count("pk"))
    return tuple(sorted((str(reason), int(count)) for reason, count in rows))


def _pace(findings: "QuerySet[Finding]") -> float:
    """Items a minute, over those fetched lately."""
    now = timezone.now()
    lately = findings.filter(state=Finding.State.FETCHED, item__fetched_at__gte=now - RECENT)
    seen = lately.aggregate(count=Count("pk"), first=Min("item__fetched_at"))
    if not seen["count"]:
        return 0.0
    return int(seen["count"]) / max(float((now - seen["first"]).total_seconds()) / 60, 1 / 60)
