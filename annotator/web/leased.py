"""Work that a row asks for, carried out by one worker however often it is told to. The row is the truth, a message a
wake-up.

A model of such work has `state` (`waiting`, `running`, and what comes after), `lease_owner` and `lease_until`.
"""

import datetime as dt
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

from django.db import OperationalError, connection
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

logger = logging.getLogger(__name__)
WAITING, RUNNING = "waiting", "running"
Row = TypeVar("Row", bound=Model)


class Stopped(Exception):
    """Another worker has it by now."""


def ready() -> Q:
    """Waiting, or left behind by a worker that is gone."""
    return Q(state=WAITING) | Q(state=RUNNING, lease_until__lt=timezone.now())


def left_waiting(model: type[Model]) -> list[int]:
    """Keys of the rows that nobody was woken for."""
    return list(_rows(model).filter(ready()).order_by("pk").values_list("pk", flat=True))


class Lease(Generic[Row]):
    """The right of one worker to one row, until it is over or no longer renewed."""

    def __init__(self, model: type[Row], pk: int, *, lasts: dt.timedelta) -> None:
        self.model, self.pk, self.lasts, self.owner = model, pk, lasts, secrets.token_hex(8)

    def rows(self) -> QuerySet[Row]:
        """The row while it is ours, else nothing."""
        return _rows(self.model).filter(pk=self.pk, lease_owner=self.owner, state=RUNNING)

    def renew(self, **values: object) -> None:
        """From now on again, with what is to be told meanwhile. Raises Stopped where another worker has the row."""
        if not self.rows().update(lease_until=timezone.now() + self.lasts, **values):
            raise Stopped

    def end(self, state: str, **values: object) -> bool:
        """Give the row back in this state; False where another worker has it."""
        return bool(self.rows().update(state=state, lease_owner="", lease_until=None, **values))

    @contextmanager
    def kept(self, *, every: float, told: Callable[[], dict[str, object]] = dict) -> Iterator[None]:
        """Renewed every so many seconds for as long as the work takes, on a connection of its own."""
        over = threading.Event()
        renewing = threading.Thread(target=self._beat, args=(over, every, told), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()

    def _beat(self, over: threading.Event, every: float, told: Callable[[], dict[str, object]]) -> None:
        try:
            while not over.wait(every):
                try:
                    self.renew(**told())
                except OperationalError as busy:  # SQLite, while much is stored: nobody else gets in either
                    logger.warning("the lease of %s %s was not renewed: %s", self.model.__name__, self.pk, busy)
                except Stopped:
                    return
        finally:
            connection.close()


def claim(model: type[Row], pk: int, *, lasts: dt.timedelta, **values: object) -> Lease[Row] | None:
    """The lease where this call got it: a conditional update decides."""
    lease = Lease(model, pk, lasts=lasts)
    running = {"state": RUNNING, "lease_owner": lease.owner, "lease_until": timezone.now() + lasts}
    return lease if _rows(model).filter(ready(), pk=pk).update(**running, **values) else None


def _rows(model: type[Row]) -> QuerySet[Row]:
    return cast(Any, model).objects.all()  # type: ignore[no-any-return]  # every model has `objects`
