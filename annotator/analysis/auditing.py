"""A label audit in a worker: claimed once however often it is delivered, stored whole or not at all."""

import datetime as dt
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotator.adjudication.queries import final_labels
from annotator.analysis.models import LabelAudit, Suspect
from annotator.collection.comparing import texts_of
from annotator.collection.models import Item
from annotator.history.actions import record
from annotator.web import leased
from annotator.web.leased import Lease, Stopped

logger = logging.getLogger(__name__)
LASTS = dt.timedelta(minutes=10)
ALIKE = 0.8  # cosine from which two bugs are near-duplicates
MOST = 200  # suspects of each kind
FAILED = "It failed for a reason that is in the server's log. Nothing was stored."
State, Reason = LabelAudit.State, Suspect.Reason


@dataclass(frozen=True)
class Settled:
    """A bug with its settled label and what is read of it."""

    bug: int
    item: int
    label: int
    text: str


def left_waiting() -> list[int]:
    return leased.left_waiting(LabelAudit)


def perform(audit_id: int) -> bool:
    """Carry it out if nobody has it; False where somebody has, or it is over."""
    lease = leased.claim(LabelAudit, audit_id, lasts=LASTS, message="")
    if lease is None:
        return False
    audit = LabelAudit.objects.select_related("study", "facet", "created_by").get(pk=audit_id)
    try:
        look(audit, lease)
    except Stopped:
        logger.warning("%s of study %s was taken over", audit, audit.study_id)
    except Exception:
        lease.end(State.FAILED, message=FAILED, finished_at=timezone.now())
        raise
    return True


def look(audit: LabelAudit, lease: Lease[LabelAudit]) -> None:
    from annotator.analysis.learning import Example, doubted  # seconds and memory that other work does without
    from annotator.collection.likeness import alike

    rows = settled(audit)
    learnt = doubted([Example(each.text, each.label, each.item) for each in rows], seed=audit.seed, tell=lease.renew)
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
    pairs = alike([each.text for each in rows], threshold=ALIKE, tell=lease.renew)
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
    store(audit, lease, suspects, bugs=learnt.bugs, measures=measures, digest=digest_of(rows))


def settled(audit: LabelAudit) -> list[Settled]:
    """The facet's settled labels, by bug: title, description and paths of each, as near-duplicates are read."""
    labels = final_labels(audit.study).filter(facet=audit.facet).order_by("bug__number")
    found = list(labels.values_list("bug_id", "bug__item_id", "label_id"))
    ids: list[int] = []
    read = list(texts_of(Item.objects.filter(pk__in=labels.order_by().values("bug__item")), ids))
    texts = dict(zip(ids, read, strict=True))
    return [Settled(bug, item, label, texts[item]) for bug, item, label in found]


def digest_of(rows: Sequence[Settled]) -> str:
    digest = hashlib.sha256()
    for each in rows:
        digest.update(f"{each.bug} {each.label} {hashlib.sha256(each.text.encode()).hexdigest()}\n".encode())
    return digest.hexdigest()


@transaction.atomic
def store(
    audit: LabelAudit,
    lease: Lease[LabelAudit],
    suspects: list[Suspect],
    *,
    bugs: int,
    measures: Mapping[str, object],
    digest: str,
) -> None:
    found = {"bugs": bugs, "measures": measures, "input_digest": digest}
    if not lease.end(State.DONE, finished_at=timezone.now(), **found):
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
