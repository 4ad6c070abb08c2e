"""Sealing the log."""

import hashlib
import json

from celery import shared_task
from django.db import transaction

from annotator.history.models import Event, Seal


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def seal() -> str | None:
    """Chain a digest over the events since the last seal; None when there are none."""
    with transaction.atomic():
        last = Seal.objects.select_for_update().order_by("-pk").first()
        after = last.last_event_id if last else 0
        return seal_events(after=after, before=last.digest if last else "")


def seal_events(*, after: int, before: str) -> str | None:
    digest = hashlib.sha256(before.encode())
    newest = None
    for event in Event.objects.filter(pk__gt=after).order_by("pk").values().iterator(chunk_size=2000):
        told = {key: value for key, value in event.items() if (key, value) != ("screening_id", None)}
        digest.update(json.dumps(told, sort_keys=True, default=str).encode())  # so that seals older than that key fit
        newest = event["id"]
    if newest is None:
        return None
    return Seal.objects.create(last_event_id=newest, digest=digest.hexdigest()).digest
