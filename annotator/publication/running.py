"""A release that was asked for, made once however often it is delivered. The row is the truth, the message a wake-up."""

import datetime as dt
import logging
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.publication.models import Release
from annotator.publication.options import options_from
from annotator.publication.releasing import clear_abandoned, make
from annotator.web.errors import BadInput, Refused

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(seconds=60)
RENEWED = 2.0  # seconds between, with what is being done
FAILED = "It failed for a reason that is in the server's log. Nothing was published."


def ready() -> Q:
    """Waiting, or left behind by a worker that is gone."""
    return Q(state=Release.State.WAITING) | Q(state=Release.State.RUNNING, lease_until__lt=timezone.now())


def left_waiting() -> list[int]:
    clear_abandoned()
    return list(Release.objects.filter(ready()).order_by("pk").values_list("pk", flat=True))


def perform(release_id: int) -> bool:
    """Make the release if nobody has it; False where somebody has, or it is done."""
    owner = secrets.token_hex(8)
    claimed = Release.objects.filter(ready(), pk=release_id).update(
        state=Release.State.RUNNING, lease_owner=owner, lease_until=timezone.now() + LEASE, progress={}
    )
    if not claimed:
        return False
    row = Release.objects.select_related("study", "asked_by").get(pk=release_id)
    try:
        with renewed(row, owner) as pulse:
            make(row.study, options_from(row.options), by=row.asked_by, row=row, owner=owner, tell=pulse.tell)
    except (BadInput, Refused) as problem:
        fail(row, owner, str(problem))
    except Exception:
        fail(row, owner, FAILED)
        raise
    return True


def mine(release_id: int, owner: str) -> "QuerySet[Release]":
    return Release.objects.filter(pk=release_id, lease_owner=owner, state=Release.State.RUNNING)


def fail(row: Release, owner: str, why: str) -> None:
    mine(row.pk, owner).update(state=Release.State.FAILED, message=why, lease_owner="", lease_until=None, progress={})


class Pulse:
    """Keeps the lease and says what is being done, on a connection of its own: the work reads one snapshot."""

    def __init__(self, release_id: int, owner: str) -> None:
        self.release_id, self.owner = release_id, owner
        self.said: dict[str, object] = {}
        self.over = threading.Event()

    def tell(self, done: int, of: int, says: str) -> None:
        self.said = {"done": done, "of": of, "says": says}

    def beat(self) -> None:
        try:
            while not self.over.wait(RENEWED):
                try:
                    mine(self.release_id, self.owner).update(progress=self.said, lease_until=timezone.now() + LEASE)
                except OperationalError as busy:  # SQLite, while much is stored: nobody else gets in either
                    logger.warning("the lease of release request %s was not renewed: %s", self.release_id, busy)
        finally:
            connection.close()


@contextmanager
def renewed(row: Release, owner: str) -> Iterator[Pulse]:
    pulse = Pulse(row.pk, owner)
    beating = threading.Thread(target=pulse.beat, daemon=True)
    beating.start()
    try:
        yield pulse
    finally:
        pulse.over.set()
        beating.join()
