"""A search for near-duplicates in a worker: claimed once however often it is delivered, stored whole or not at all."""

import datetime as dt
import logging
from collections.abc import Iterator, Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotator.collection.models import ChangedFile, Comparison, Item, NearDuplicate
from annotator.collection.near_duplicates import items_of
from annotator.history.actions import record
from annotator.web import leased
from annotator.web.leased import Lease, Stopped

logger = logging.getLogger(__name__)
LASTS = dt.timedelta(minutes=5)
CHUNK = 500
LONGEST = 20_000  # characters of a description that count
MOST_PATHS = 100  # of an item
TITLE = 3  # times that a title counts
FAILED = "It failed for a reason that is in the server's log. Nothing was stored."


def left_waiting() -> list[int]:
    return leased.left_waiting(Comparison)


def perform(comparison_id: int) -> bool:
    """Carry it out if nobody has it; False where somebody has, or it is over."""
    lease = leased.claim(Comparison, comparison_id, lasts=LASTS, message="")
    if lease is None:
        return False
    comparison = Comparison.objects.select_related("study", "created_by").get(pk=comparison_id)
    try:
        store(comparison, lease, *compared(comparison, lease))
    except Stopped:
        logger.warning("%s of study %s was taken over", comparison, comparison.study_id)
    except Exception:
        lease.end(Comparison.State.FAILED, message=FAILED, finished_at=timezone.now())
        raise
    return True


def compared(comparison: Comparison, lease: Lease[Comparison]) -> tuple[int, list[NearDuplicate]]:
    """How many items, and their pairs."""
    from annotator.collection.likeness import alike  # seconds and memory that other work does without

    ids: list[int] = []
    texts = texts_of(items_of(comparison.study), ids)
    pairs = [
        NearDuplicate(
            comparison=comparison,
            first_id=ids[pair.first],
            second_id=ids[pair.second],
            similarity=pair.similarity,
            words=list(pair.words),
        )
        for pair in alike(texts, threshold=comparison.threshold, tell=lease.renew)
    ]
    return len(ids), pairs


def texts_of(items: "QuerySet[Item]", ids: list[int]) -> Iterator[str]:
    """Title, description and paths of each, some at a time; their ids go into the list, in the same order."""
    chunk: list[tuple[int, str, str]] = []
    rows = items.order_by("pk").values_list("pk", "title", "text__body")
    for row in rows.iterator(chunk_size=CHUNK):
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield from _texts(chunk, ids)
            chunk = []
    yield from _texts(chunk, ids)


def _texts(chunk: Sequence[tuple[int, str, str]], ids: list[int]) -> Iterator[str]:
    paths: dict[int, list[str]] = {}
    files = ChangedFile.objects.filter(item__in=[pk for pk, _, _ in chunk], position__lte=MOST_PATHS)
    for item, path in files.order_by("pk").values_list("item_id", "path"):
        paths.setdefault(item, []).append(path)
    for pk, title, body in chunk:
        ids.append(pk)
        yield "\n".join([*[title] * TITLE, (body or "")[:LONGEST], *paths.get(pk, ())])


@transaction.atomic
def store(comparison: Comparison, lease: Lease[Comparison], items: int, pairs: Sequence[NearDuplicate]) -> None:
    if not lease.end(Comparison.State.DONE, items=items, finished_at=timezone.now()):
        raise Stopped
    NearDuplicate.objects.bulk_create(pairs, batch_size=CHUNK)
    record(
        "compared items",
        by=comparison.created_by,
        kind="comparison",
        object_id=comparison.pk,
        label=str(comparison),
        study_id=comparison.study_id,
        new={"items": items, "pairs": len(pairs), "threshold": comparison.threshold},
    )
