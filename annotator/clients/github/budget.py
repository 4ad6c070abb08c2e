"""What a token may still ask, as GitHub tells it, and until when it has been told to wait."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Literal, Protocol

Resource = Literal["core", "search", "graphql"]

SECONDARY_WAIT = timedelta(seconds=60)  # GitHub: at least a minute where it names no time, then longer each time
LONGEST_SECONDARY_WAIT = timedelta(minutes=16)


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Reading:
    """What one request taught. `reserved` is given back; None: the answer did not say."""

    resource: Resource
    reserved: int
    limit: int | None = None
    remaining: int | None = None
    reset_at: datetime | None = None
    closed_until: datetime | None = None  # this resource's allowance is used up
    hold_until: datetime | None = None  # a secondary limit with a time: the whole token waits
    is_secondary: bool = False  # a secondary limit, with or without a time

    @property
    def is_success(self) -> bool:
        return self.remaining is not None and not self.is_secondary and self.closed_until is None


class Budget(Protocol):
    """One token's allowance, shared by all who use the token. Both calls must be atomic."""

    def reserve(self, resource: Resource, cost: int) -> datetime | None:
        """Takes `cost` and returns None; or takes nothing and says when to ask again."""

    def learn(self, reading: Reading) -> None:
        """Called once after each reserved request, however it ended."""


def hold_after(reading: Reading, *, now: datetime, strikes: int) -> datetime | None:
    """Until when the whole token waits; `strikes` counts the secondary limits in a row before this one."""
    if not reading.is_secondary:
        return None
    longer = SECONDARY_WAIT * 2 ** min(strikes, 4)
    return reading.hold_until or now + min(longer, LONGEST_SECONDARY_WAIT)


@dataclass
class Allowance:
    """One resource of one token in the current window."""

    remaining: int | None = None
    reset_at: datetime | None = None
    reserved: int = 0

    def wait_for(self, cost: int, now: datetime) -> datetime | None:
        if self.reset_at and self.reset_at <= now:
            self.remaining = self.reset_at = None
        if self.remaining is None or self.reset_at is None or self.remaining - self.reserved >= cost:
            return None
        return self.reset_at

    def settle(self, reading: Reading) -> None:
        self.reserved = max(0, self.reserved - reading.reserved)
        if reading.closed_until:
            self.remaining, self.reset_at = 0, reading.closed_until
        elif reading.remaining is not None and reading.reset_at is not None:
            self.remaining = self._lower(reading.remaining, reading.reset_at)
            self.reset_at = reading.reset_at

    def _lower(self, remaining: int, reset_at: datetime) -> int:
        """Answers overtake each other: within a window the allowance only falls."""
        if self.remaining is None or reset_at != self.reset_at:
            return remaining
        return min(self.remaining, remaining)


class InMemoryBudget:
    """A budget for one process."""

    def __init__(self, clock: "Clock" = utc_now) -> None:
        self._clock = clock
        self._lock = Lock()
        self._allowances: dict[Resource, Allowance] = {}
        self._hold_until: datetime | None = None
        self._strikes = 0

    def reserve(self, resource: Resource, cost: int) -> datetime | None:
        with self._lock:
            now = self._clock()
            if self._hold_until and self._hold_until > now:
                return self._hold_until
            allowance = self._allowances.setdefault(resource, Allowance())
            if wait := allowance.wait_for(cost, now):
                return wait
            allowance.reserved += cost
            return None

    def learn(self, reading: Reading) -> None:
        with self._lock:
            self._allowances.setdefault(reading.resource, Allowance()).settle(reading)
            if hold := hold_after(reading, now=self._clock(), strikes=self._strikes):
                self._hold_until = max(hold, self._hold_until or hold)
            self._strikes = self._strikes + 1 if reading.is_secondary else 0 if reading.is_success else self._strikes


class Clock(Protocol):
    def __call__(self) -> datetime: ...
