"""A waiting import, done once however often it is delivered."""

import datetime as dt
import logging

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotator.intake.actions import dry_run, finish, run_import, sheet_of
from annotator.intake.mapping import Mapping, from_document
from annotator.intake.models import Import
from annotator.intake.sheets import Sheet
from annotator.web import leased
from annotator.web.errors import BadInput, Refused
from annotator.web.guarded import refusal_in
from annotator.web.leased import Lease

logger = logging.getLogger(__name__)
LASTS = dt.timedelta(seconds=60)
RENEWED = 20.0  # seconds between: a worker that is killed is missed within a minute


def claim(import_id: int) -> Lease[Import] | None:
    return leased.claim(Import, import_id, lasts=LASTS, rows_done=0)


def left_waiting() -> list[int]:
    return leased.left_waiting(Import)


def perform(import_id: int) -> bool:
    """Run the import if nobody has it; False where somebody has, or it is done."""
    lease = claim(import_id)
    if lease is None:
        return False
    row = Import.objects.select_related("study", "created_by").get(pk=import_id)
    try:
        with lease.kept(every=RENEWED):
            carry_out(row, lease)
    except leased.Stopped:
        logger.warning("import %s was taken over", row)
    except (BadInput, Refused) as problem:
        fail(row, lease, str(problem))
    except Exception as problem:
        if refusal := refusal_in(problem):
            fail(row, lease, str(refusal))
            return True
        logger.exception("import %s failed", row)
        fail(row, lease, "The import failed for a reason that is in the server's log. Nothing was stored.")
        raise
    return True


def carry_out(row: Import, lease: Lease[Import]) -> None:
    mapping = from_document(row.mapping)
    sheet = sheet_of(row, mapping)  # outside the transaction, which on SQLite keeps all others waiting
    dry_run(study=row.study, sheet=sheet, mapping=mapping, progress=lambda rows: lease.renew(rows_done=rows))
    store(row, sheet, mapping, lease)


@transaction.atomic
def store(row: Import, sheet: Sheet, mapping: Mapping, lease: Lease[Import]) -> None:
    """Everything and the row's own state in one transaction: a second delivery finds it done."""
    held = lease.rows().select_for_update(of=("self",)).select_related("study").first()
    if held is None:
        raise leased.Stopped
    report, stored = run_import(study=held.study, sheet=sheet, mapping=mapping, by=row.created_by)
    finish(held, report, stored, by=row.created_by)


def fail(row: Import, lease: Lease[Import], why: str) -> None:
    report = {"errors": [{"row": None, "column": "", "code": "refused", "text": why}], "warnings": []}
    lease.end(
        Import.State.FAILED,
        report={**(row.report or {}), **report},
        finished_at=timezone.now(),
        rows_done=F("rows_total"),
    )
