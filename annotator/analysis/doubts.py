"""Asking for a label audit, and ruling on what it doubts."""

import secrets

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.adjudication.deciding import refuse_rater
from annotator.adjudication.models import Dispute
from annotator.adjudication.queries import final_labels, final_rounds
from annotator.analysis.models import LabelAudit, Suspect
from annotator.codebook.models import Facet
from annotator.history.actions import record
from annotator.labeling.models import Assignment, Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from annotator.web.texts import check_text

LARGEST_SEED = 2**31
BUSY = (LabelAudit.State.WAITING, LabelAudit.State.RUNNING)


@transaction.atomic
def ask_audit(*, study: Study, facet: Facet, by: User, seed: int | None = None) -> LabelAudit:
    """A row that a worker carries out, once agreement and final labels of the facet stand."""
    if facet.is_many or facet.is_verdict:
        raise BadInput(f"{facet.name} cannot be audited: it takes several answers, or says only whether it is a bug.")
    Study.objects.select_for_update().get(pk=study.pk)
    if why := not_yet(study, facet):
        raise Refused(why)
    latest = LabelAudit.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    chosen = secrets.randbelow(LARGEST_SEED) if seed is None else seed
    audit = LabelAudit.objects.create(study=study, number=latest + 1, facet=facet, seed=chosen, created_by=by)
    record(
        "asked for a label audit",
        by=by,
        kind="label audit",
        object_id=audit.pk,
        label=str(audit),
        study_id=study.pk,
        new={"facet": facet.key, "seed": chosen},
    )
    return audit


def not_yet(study: Study, facet: Facet) -> str:
    """Why its labels cannot be audited now, or nothing: a model's word must not reach who still labels or decides."""
    if Round.objects.open().filter(study=study).exclude(kind=Round.Kind.TRAINING).exists():
        return "A round is open: labels are audited once nobody labels any more."
    if Dispute.objects.filter(study=study, facet=facet, is_open=True).exists():
        return f"Disputes on {facet.name} wait for a decision: labels are audited once all are settled."
    if not final_rounds(study).exists() and not final_labels(study).filter(facet=facet).exists():
        return "There is no final label yet."
    if LabelAudit.objects.filter(study=study, state__in=BUSY).exists():
        return "A label audit is under way already."
    return ""


def shown_to(viewer: User, suspects: "QuerySet[Suspect]") -> "QuerySet[Suspect]":
    """Without what the viewer has to label again: a model's word would sway the second look."""
    in_hand = Assignment.objects.filter(rater=viewer, round__state=Round.State.OPEN).values("bug")
    return suspects.exclude(bug__in=in_hand).exclude(twin__in=in_hand)


@transaction.atomic
def rule(*, suspect: Suspect, ruling: str, note: str = "", by: User) -> Suspect:
    """Say whether the doubted label is right. It changes no label: a wrong one is opened again in adjudication."""
    check_text(note, "note")
    if ruling not in (Suspect.Ruling.RIGHT, Suspect.Ruling.WRONG):
        raise BadInput("Say that the label is right, or that it is wrong.")
    if ruling == Suspect.Ruling.WRONG and not note.strip():
        raise BadInput("Say in a note what is wrong with the label.")
    held = Suspect.objects.select_for_update(of=("self",)).select_related("audit", "bug").get(pk=suspect.pk)
    refuse_rater(held.bug, by)
    old = held.ruling
    held.ruling, held.note, held.ruled_by, held.ruled_at = ruling, note.strip(), by, timezone.now()
    held.save(update_fields=["ruling", "note", "ruled_by", "ruled_at"])
    record(
        "ruled on a doubted label",
        by=by,
        kind="suspect",
        object_id=held.pk,
        label=f"{held.audit}, {held.rank}",
        study_id=held.audit.study_id,
        old=old or None,
        new=ruling,
        why=held.note,
    )
    return held
