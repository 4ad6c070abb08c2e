"""A label audit in a worker: claimed once however often it is delivered, stored whole or not at all."""

import datetime as dt
import hashlib
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.adjudication.queries import final_labels
from annotator.analysis.models import LabelAudit, Suspect
from annotator.collection.models import ChangedFile
from annotator.history.actions import record
from annotator.sampling.models import Bug

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(minutes=10)
TITLE, LONGEST, MOST_PATHS = 3, 20_000, 100  # as near-duplicates are read
ALIKE = 0.8  # cosine from which two bugs are near-duplicates
MOST = 200  # suspects of each kind
State, Reason = LabelAudit.State, Suspect.Reason


class Stopped(Exception):
    """Another worker has it by now."""


@dataclass(frozen=True)
class Settled:
    """A bug with its settled label and what is read of it."""

    bug: int
    item: int
    label: int
    text: str


def ready() -> Q:
    """Waiting, or left behind by a worker that is gone."""
    return Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=timezone.now())


def left_waiting() -> list[int]:
    return list(LabelAudit.objects.filter(ready()).order_by("pk").values_list("pk", flat=True))


def perform(audit_id: int) -> bool:
    """Carry it out if nobody has it; False where somebody has, or it is over."""
    owner = secrets.token_hex(8)
    claimed = LabelAudit.objects.filter(ready(), pk=audit_id).update(
        state=State.RUNNING, lease_owner=owner, lease_until=timezone.now() + LEASE, message=""
    )
    if not claimed:
        return False
    audit = LabelAudit.objects.select_related("study", "facet", "created_by").get(pk=audit_id)
    try:
        look(audit, owner)
    except Stopped:
        logger.warning("%s of study %s was taken over", audit, audit.study_id)
    except Exception:
        told = "It failed for a reason that is in the server's log. Nothing was stored."
        mine(audit, owner).update(
            state=State.FAILED, message=told, lease_owner="", lease_until=None, finished_at=timezone.now()
        )
        raise
    return True


def mine(audit: LabelAudit, owner: str) -> "QuerySet[LabelAudit]":
    return LabelAudit.objects.filter(pk=audit.pk, lease_owner=owner, state=State.RUNNING)


def look(audit: LabelAudit, owner: str) -> None:
    from annotator.analysis.learning import Example, doubted  # seconds and memory that other work does without
    from annotator.collection.likeness import alike

    def tell() -> None:
        if not mine(audit, owner).update(lease_until=timezone.now() + LEASE):
            raise Stopped

    rows = settled(audit)
    learnt = doubted([Example(each.text, each.label, each.item) for each in rows], seed=audit.seed, tell=tell)
    suspects = [
        Suspect(
            reason=Reason.UNLIKELY,
            bug_id=rows[doubt.place].bug,
            label_id=rows[doubt.place].label,
            likely_id=doubt.likely,
            probability=doubt.probability,
            likely_probability=doubt.likely_probability,
            words=list(doubt.words),
        )
        for doubt in learnt.doubts[:MOST]
    ]
    pairs = alike([each.text for each in rows], threshold=ALIKE, tell=tell)
    unlike = [pair for pair in pairs if rows[pair.first].label != rows[pair.second].label]
    unlike.sort(key=lambda pair: -pair.similarity)
    suspects += [
        Suspect(
            reason=Reason.UNLIKE_TWIN,
            bug_id=rows[pair.second].bug,
            twin_id=rows[pair.first].bug,
            label_id=rows[pair.second].label,
            likely_id=rows[pair.first].label,
            words=list(pair.words),
        )
        for pair in unlike[:MOST]
    ]
    measures = {"accuracy": learnt.accuracy, "folds": learnt.folds, "left_out": sum(learnt.left_out.values())}
    measures |= {"unlikely": len(learnt.doubts), "unlike_twins": len(unlike), "labels": len(rows)}
    store(audit, owner, suspects, bugs=learnt.bugs, measures=measures, digest=digest_of(rows))


def settled(audit: LabelAudit) -> list[Settled]:
    """The facet's settled labels, by bug: title, description and paths of each, as near-duplicates are read."""
    labels = final_labels(audit.study).filter(facet=audit.facet).order_by("bug__number")
    found = list(labels.values_list("bug_id", "bug__item_id", "label_id"))
    texts = texts_of({item for _, item, _ in found})
    return [Settled(bug, item, label, texts.get(item, "")) for bug, item, label in found]


def texts_of(items: set[int]) -> dict[int, str]:
    rows = Bug.objects.filter(item__in=items).order_by().distinct()
    paths: dict[int, list[str]] = {}
    files = ChangedFile.objects.filter(item__in=items, position__lte=MOST_PATHS).order_by("pk")
    for item, path in files.values_list("item_id", "path").iterator():
        paths.setdefault(item, []).append(path)
    said = rows.values_list("item_id", "item__title", "item__text__body")
    return {
        item: "\n".join([*[title] * TITLE, (body or "")[:LONGEST], *paths.get(item, ())]) for item, title, body in said
    }


def digest_of(rows: Sequence[Settled]) -> str:
    digest = hashlib.sha256()
    for each in rows:
        digest.update(f"{each.bug} {each.label} {hashlib.sha256(each.text.encode()).hexdigest()}\n".encode())
    return digest.hexdigest()


@transaction.atomic
def store(
    audit: LabelAudit, owner: str, suspects: list[Suspect], *, bugs: int, measures: Mapping[str, object], digest: str
) -> None:
    over = {"lease_owner": "", "lease_until": None, "finished_at": timezone.now()}
    if not mine(audit, owner).update(state=State.DONE, bugs=bugs, measures=measures, input_digest=digest, **over):
        raise Stopped
    for rank, suspect in enumerate(suspects, 1):
        suspect.audit, suspect.rank = audit, rank
    Suspect.objects.bulk_create(suspects, batch_size=500)
    record(
        "audited labels",
        by=audit.created_by,
        kind="label audit",
        object_id=audit.pk,
        label=str(audit),
        study_id=audit.study_id,
        new={"suspects": len(suspects), **measures},
    )
