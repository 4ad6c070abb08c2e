"""The client's budget kept in the database, so that all workers and commands obey it together."""

from datetime import datetime

from django.db.models import F, Q, QuerySet
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
        now = self._clock()
        if held := self._row(WHOLE).filter(blocked_until__gt=now).values_list("blocked_until", flat=True).first():
            return held
        row = self._row(resource)
        # A new window: what a killed process had reserved is free again.
        row.filter(reset_at__lte=now).update(remaining=None, reset_at=None, reserved=0)
        enough = Q(remaining=None) | Q(reset_at=None) | Q(remaining__gte=F("reserved") + cost)
        if row.filter(enough).update(reserved=F("reserved") + cost):
            return None
        return row.values_list("reset_at", flat=True).get() or now

    def learn(self, reading: Reading) -> None:
        row = self._row(reading.resource)
        row.update(reserved=Greatest(F("reserved") - reading.reserved, 0))
        if reading.closed_until:
            row.update(remaining=0, reset_at=reading.closed_until)
        elif reading.remaining is not None and reading.reset_at is not None:
            self._settle(reading)
        self._hold(reading)

    def _settle(self, reading: Reading) -> None:
        """Answers overtake each other: within a window the allowance only falls."""
        row = self._row(reading.resource)
        same = Q(reset_at=reading.reset_at, remaining__lt=reading.remaining)
        row.exclude(same & Q(remaining__isnull=False)).update(
            remaining=reading.remaining, limit=reading.limit, reset_at=reading.reset_at
        )

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
