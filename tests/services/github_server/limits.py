"""GitHub's limits: an allowance for each token and resource, and waits that the whole token is told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

DEFAULT = {"core": 5_000, "search": 30, "graphql": 5_000}
WINDOWS = {"core": timedelta(hours=1), "search": timedelta(minutes=1), "graphql": timedelta(hours=1)}


@dataclass
class Allowance:
    limit: int
    remaining: int
    reset_at: datetime


@dataclass
class Limits:
    """Of one token."""

    clock: Callable[[], datetime]
    limits: dict[str, int] = field(default_factory=lambda: dict(DEFAULT))
    held_until: datetime | None = None
    _allowances: dict[str, Allowance] = field(default_factory=dict)

    def allowance(self, resource: str) -> Allowance:
        now = self.clock()
        kept = self._allowances.get(resource)
        if kept is None or kept.reset_at <= now:
            reset = (now + WINDOWS[resource]).replace(microsecond=0)
            kept = self._allowances[resource] = Allowance(self.limits[resource], self.limits[resource], reset)
        return kept

    def is_held(self) -> bool:
        return self.held_until is not None and self.clock() < self.held_until

    def take(self, resource: str, cost: int) -> bool:
        """False: not enough is left, and nothing is taken."""
        kept = self.allowance(resource)
        if kept.remaining < cost:
            return False
        kept.remaining -= cost
        return True

    def use_up(self, resource: str, seconds: float) -> None:
        kept = self.allowance(resource)
        kept.remaining, kept.reset_at = 0, (self.clock() + timedelta(seconds=seconds)).replace(microsecond=0)

    def hold(self, seconds: float) -> None:
        self.held_until = self.clock() + timedelta(seconds=seconds)

    def headers(self, resource: str) -> dict[str, str]:
        kept = self.allowance(resource)
        return {
            "X-RateLimit-Limit": str(kept.limit),
            "X-RateLimit-Remaining": str(kept.remaining),
            "X-RateLimit-Used": str(kept.limit - kept.remaining),
            "X-RateLimit-Reset": str(int(kept.reset_at.timestamp())),
            "X-RateLimit-Resource": resource,
        }
