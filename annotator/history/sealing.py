"""Seals of the log: each a digest of the events since the last one and of that one."""

import datetime as dt
import hashlib
import json
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Max

from annotator.history.models import Event, Seal

PATIENCE = "1s"  # what others write waits as long


@dataclass(frozen=True)
class Sealed:
    """What a digest was made of."""

    digest: str
    events: int
    last: int  # id of the last one, 0 where there is none


@dataclass(frozen=True)
class Broken:
    """The first seal that does not fit its events any more."""

    number: int
    at: dt.datetime
    after: int  # it covers the events of ids above this one …
    last: int  # … up to this one
    sealed: str
    found: str


@dataclass(frozen=True)
class Verified:
    seals: int
    sealed: int  # events
    unsealed: int
    digest: str  # of the last seal, to keep elsewhere; empty where there is none
    broken: Broken | None


@transaction.atomic
def settled_id() -> int:
    """The newest event's id, once no lower one can appear any more.

    On PostgreSQL ids are given before the commit, so a lower one may still be on its way: the lock waits for those
    who write just now, at most `PATIENCE`, and raises OperationalError.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            cursor.execute("LOCK TABLE history_event IN SHARE MODE")
            cursor.execute("SET LOCAL lock_timeout = DEFAULT")  # what comes later in a transaction around this may wait
    newest: int | None = Event.objects.aggregate(newest=Max("pk"))["newest"]
    return newest or 0


@transaction.atomic
def seal_up_to(last: int) -> str | None:
    """Seal what is not sealed yet, up to this event; None where there is nothing."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE history_seal IN SHARE ROW EXCLUSIVE MODE")  # one seal after the other
    before = Seal.objects.order_by("-pk").first()
    made = digest_of(after=before.last_event_id if before else 0, last=last, before=before.digest if before else "")
    if not made.events:
        return None
    return Seal.objects.create(last_event_id=made.last, digest=made.digest).digest


def digest_of(*, after: int, last: int, before: str) -> Sealed:
    digest, count, newest = hashlib.sha256(before.encode()), 0, 0
    events = Event.objects.filter(pk__gt=after, pk__lte=last).order_by("pk")
    for event in events.values().iterator(chunk_size=2000):
        told = {key: value for key, value in event.items() if (key, value) != ("screening_id", None)}
        digest.update(json.dumps(told, sort_keys=True, default=str).encode())  # so that seals older than that key fit
        count, newest = count + 1, event["id"]
    return Sealed(digest.hexdigest(), count, newest)


def verify() -> Verified:
    """Work out every seal again, the first first; what follows a broken one is not looked at."""
    before, after, sealed = "", 0, 0
    seals = list(Seal.objects.order_by("pk"))
    broken = None
    for number, seal in enumerate(seals, 1):
        found = digest_of(after=after, last=seal.last_event_id, before=before)
        sealed += found.events
        if found.digest != seal.digest:
            broken = Broken(number, seal.at, after, seal.last_event_id, seal.digest, found.digest)
            break
        before, after = seal.digest, seal.last_event_id
    unsealed = Event.objects.filter(pk__gt=seals[-1].last_event_id if seals else 0).count()
    return Verified(len(seals), sealed, unsealed, seals[-1].digest if seals else "", broken)
