"""Slices of time, each under the search cap: GitHub's search stops at 1,000 hits and says nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

CAP = 1_000
SECOND = timedelta(seconds=1)
STEPS = (timedelta(days=1), timedelta(hours=1), timedelta(minutes=1), SECOND)


@dataclass(frozen=True, order=True)
class Window:
    """From its first to its last second, both in; UTC."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"a window ends ({self.end}) before it starts ({self.start})")

    @classmethod
    def of_days(cls, first: date, last: date) -> "Window":
        """Whole UTC days, both included."""
        midnight = datetime.combine(last, time.min, UTC) + timedelta(days=1)
        return cls(datetime.combine(first, time.min, UTC), midnight - SECOND)

    @property
    def after(self) -> datetime:
        """The first second that is no longer in."""
        return self.end + SECOND

    @property
    def length(self) -> timedelta:
        return self.after - self.start

    def __str__(self) -> str:
        """As GitHub's search takes it: whole days where it can be."""
        if self.start.time() == self.after.time() == time.min:
            return f"{self.start:%Y-%m-%d}..{self.end:%Y-%m-%d}"
        return f"{self.start:%Y-%m-%dT%H:%M:%SZ}..{self.end:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Count:
    """How many a window holds; not complete: the search ran out of time, so there may be more."""

    total: int
    is_complete: bool = True


@dataclass(frozen=True)
class Settled:
    """A window that is searched as it stands. `capped` are the hits that no search will give."""

    window: Window
    count: Count

    @property
    def capped(self) -> int:
        return max(0, self.count.total - CAP)


def split(window: Window, parts: int = 2) -> tuple[Window, ...]:
    """About `parts` windows, oldest first, cut at whole days where possible, else hours, minutes, seconds.

    They meet without gap or overlap. Empty: a single second can't be split.
    """
    for step in STEPS:
        if cuts := _cuts(window, step=step, parts=parts):
            edges = [window.start, *cuts, window.after]
            return tuple(Window(start, after - SECOND) for start, after in pairwise(edges))
    return ()


def _cuts(window: Window, *, step: timedelta, parts: int) -> list[datetime]:
    """Inner edges on multiples of the step."""
    wanted = (window.start + window.length * n / parts for n in range(1, parts))
    rounded = {_floor(moment, step) for moment in wanted} | {_floor(window.start + window.length / 2, step)}
    inner = sorted(moment for moment in rounded if window.start < moment < window.after)
    if inner:
        return inner
    last = _floor(window.end, step)
    return [last] if window.start < last else []


def _floor(moment: datetime, step: timedelta) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + (moment - midnight) // step * step


def pieces(window: Window, count: Count, at_most: int = CAP - 1) -> tuple[Window, ...]:
    """The windows to count instead of this one, newest first; empty: search this one as it stands."""
    if count.total <= at_most and count.is_complete:
        return ()
    parts = max(2, min(64, -(-count.total * 5 // (at_most * 4))))  # a quarter of air: hits are never spread evenly
    return tuple(reversed(split(window, parts)))


def walk(window: Window, count: Callable[[Window], Count], at_most: int = CAP - 1) -> Iterator[Settled]:
    """Windows under the cap, newest first; each is counted when it is its turn."""
    waiting = [window]
    while waiting:
        current = waiting.pop()
        counted = count(current)
        if smaller := pieces(current, counted, at_most):
            waiting.extend(reversed(smaller))
        else:
            yield Settled(current, counted)
