"""A waiting import, done once however often it is delivered. The row is the truth, the message a wake-up."""

import datetime as dt
import logging
import secrets

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotator.intake.actions import check, finish, run_import, sheet_of
from annotator.intake.mapping import Mapping, from_document
from annotator.intake.models import Import
from annotator.web.errors import BadInput, Refused

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(minutes=10)


def ready() -> Q:
    """Waiting, or left behind by a worker that is gone."""
    return Q(state=Import.State.WAITING) | Q(state=Import.State.RUNNING, lease_until__lt=timezone.now())


def claim(import_id: int) -> str:
    """The lease's owner when this call got it, else nothing: a conditional update decides."""
    owner = secrets.token_hex(8)
    got = Import.objects.filter(ready(), pk=import_id).update(
        state=Import.State.RUNNING, lease_owner=owner, lease_until=timezone.now() + LEASE, rows_done=0
    )
    return owner if got else ""


def perform(import_id: int) -> bool:
    """Run the import if nobody has it; False where somebody has, or it is done."""
    owner = claim(import_id)
    if not owner:
        return False
    row = Import.objects.select_related("study", "created_by").get(pk=import_id)
    try:
        mapping = from_document(row.mapping)
        check(row, mapping, progress=lambda rows: tell(row, owner, rows))
        store(row, mapping, owner)
    except (BadInput, Refused) as problem:
        fail(row, owner, str(problem))
    except Exception:
        logger.exception("import %s failed", row)
        fail(row, owner, "The import failed for a reason that is in the server's log. Nothing was stored.")
        raise
    return True


def tell(row: Import, owner: str, rows: int) -> None:
    Import.objects.filter(pk=row.pk, lease_owner=owner).update(rows_done=rows, lease_until=timezone.now() + LEASE)


@transaction.atomic
def store(row: Import, mapping: Mapping, owner: str) -> None:
    """Everything and the row's own state in one transaction: a second delivery finds it done."""
    held = Import.objects.select_for_update(of=("self",)).select_related("study").filter(pk=row.pk, lease_owner=owner)
    mine = held.first()
    if mine is None:
        return
    report, stored = run_import(study=mine.study, sheet=sheet_of(mine, mapping), mapping=mapping, by=row.created_by)
    finish(mine, report, stored, by=row.created_by)


def fail(row: Import, owner: str, why: str) -> None:
    report = {"errors": [{"row": None, "column": "", "code": "refused", "text": why}], "warnings": []}
    Import.objects.filter(pk=row.pk, lease_owner=owner, state=Import.State.RUNNING).update(
        state=Import.State.FAILED,
        report={**(row.report or {}), **report},
        lease_owner="",
        lease_until=None,
        finished_at=timezone.now(),
        rows_done=F("rows_total"),
    )


def left_waiting() -> list[int]:
    """Imports that nobody was woken for."""
    return list(Import.objects.filter(ready()).order_by("pk").values_list("pk", flat=True))
