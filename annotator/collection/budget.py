"""The client's budget kept in the database, so that all workers and commands obey it together."""

from datetime import datetime
from typing import Any

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest

from annotator.clients.github.budget import Clock, Reading, Resource, hold_after, utc_now
from annotator.collection.models import Budget

WHOLE = "token"  # the row of what the whole token waits for


class SharedBudget:
    """One token's allowance. Each call is one conditional UPDATE or two; nothing is read and then written back."""

    def __init__(self, digest: str, clock: Clock = utc_now) -> None:
        self._digest = digest
        self._clock = clock
        self._present: set[str] = set()

    def reserve(self, resource: Resource, cost: int) -> datetime | None:
        now, row = self._clock(), self._row(resource)
        times = self._times(resource)
        held, reset = times[WHOLE][0], times[resource][1]
        if held and held > now:
            return held
        if reset and reset <= now:  # a new window: what a killed process had reserved is free again
            row.filter(reset_at__lte=now).update(remaining=None, reset_at=None, reserved=0)
        enough = Q(remaining=None) | Q(reset_at=None) | Q(remaining__gte=F("reserved") + cost)
        if row.filter(enough).update(reserved=F("reserved") + cost):
            return None
        return row.values_list("reset_at", flat=True).get() or now

    def _times(self, resource: Resource) -> dict[str, tuple[datetime | None, datetime | None]]:
        """Until when it is blocked, and when it is reset: of the whole token and of the resource."""
        self._row(WHOLE)
        rows = Budget.objects.filter(digest=self._digest, resource__in=[WHOLE, resource])
        return {name: (held, reset) for name, held, reset in rows.values_list("resource", "blocked_until", "reset_at")}

    def learn(self, reading: Reading) -> None:
        answered = {"reserved": Greatest(F("reserved") - reading.reserved, 0)}
        self._row(reading.resource).update(**answered, **self._settled(reading))
        self._hold(reading)

    def _settled(self, reading: Reading) -> dict[str, Any]:
        """Answers overtake each other: within a window the allowance only falls."""
        if reading.closed_until:
            return {"remaining": 0, "reset_at": reading.closed_until}
        if reading.remaining is None or reading.reset_at is None:
            return {}
        overtaken = When(reset_at=reading.reset_at, remaining__lt=reading.remaining, then=F("remaining"))
        remaining = Case(overtaken, default=Value(reading.remaining))
        return {"remaining": remaining, "limit": reading.limit, "reset_at": reading.reset_at}

    def _hold(self, reading: Reading) -> None:
        row = self._row(WHOLE)
        if reading.is_secondary:
            strikes = row.values_list("strikes", flat=True).get()
            hold = hold_after(reading, now=self._clock(), strikes=strikes)
            row.filter(Q(blocked_until=None) | Q(blocked_until__lt=hold)).update(blocked_until=hold)
            row.update(strikes=F("strikes") + 1)
        elif reading.is_success:
            row.filter(strikes__gt=0).update(strikes=0)

    def _row(self, resource: str) -> QuerySet[Budget]:
        if resource not in self._present:
            Budget.objects.get_or_create(digest=self._digest, resource=resource)
            self._present.add(resource)
        return Budget.objects.filter(digest=self._digest, resource=resource)
