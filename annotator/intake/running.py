"""A waiting import, done once however often it is delivered. The row is the truth, the message a wake-up."""

import datetime as dt
import logging
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotator.intake.actions import dry_run, finish, run_import, sheet_of
from annotator.intake.mapping import Mapping, from_document
from annotator.intake.models import Import
from annotator.intake.sheets import Sheet
from annotator.web.errors import BadInput, Refused
from annotator.web.guarded import refusal_in

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(seconds=60)
RENEWED = 20.0  # seconds between


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
        with renewed(row, owner):
            carry_out(row, owner)
    except (BadInput, Refused) as problem:
        fail(row, owner, str(problem))
    except Exception as problem:
        if refusal := refusal_in(problem):
            fail(row, owner, str(refusal))
            return True
        logger.exception("import %s failed", row)
        fail(row, owner, "The import failed for a reason that is in the server's log. Nothing was stored.")
        raise
    return True


def carry_out(row: Import, owner: str) -> None:
    mapping = from_document(row.mapping)
    sheet = sheet_of(row, mapping)  # outside the transaction, which on SQLite keeps all others waiting
    dry_run(study=row.study, sheet=sheet, mapping=mapping, progress=lambda rows: tell(row, owner, rows))
    store(row, sheet, mapping, owner)


@contextmanager
def renewed(row: Import, owner: str) -> Iterator[None]:
    """Keep the lease for as long as the work takes: a worker that is killed is missed within a minute."""
    over = threading.Event()
    renewing = threading.Thread(target=renew, args=(row.pk, owner, over), daemon=True)
    renewing.start()
    try:
        yield
    finally:
        over.set()
        renewing.join()


def renew(import_id: int, owner: str, over: threading.Event) -> None:
    try:
        while not over.wait(RENEWED):
            try:
                mine(import_id, owner).update(lease_until=timezone.now() + LEASE)
            except OperationalError as busy:  # SQLite, while everything is stored: nobody else gets in either
                logger.warning("the lease of import %s was not renewed: %s", import_id, busy)
    finally:
        connection.close()


def mine(import_id: int, owner: str) -> QuerySet[Import]:
    return Import.objects.filter(pk=import_id, lease_owner=owner, state=Import.State.RUNNING)


def tell(row: Import, owner: str, rows: int) -> None:
    mine(row.pk, owner).update(rows_done=rows, lease_until=timezone.now() + LEASE)


@transaction.atomic
def store(row: Import, sheet: Sheet, mapping: Mapping, owner: str) -> None:
    """Everything and the row's own state in one transaction: a second delivery finds it done."""
    held = mine(row.pk, owner).select_for_update(of=("self",)).select_related("study").first()
    if held is None:
        return
    report, stored = run_import(study=held.study, sheet=sheet, mapping=mapping, by=row.created_by)
    finish(held, report, stored, by=row.created_by)


def fail(row: Import, owner: str, why: str) -> None:
    report = {"errors": [{"row": None, "column": "", "code": "refused", "text": why}], "warnings": []}
    mine(row.pk, owner).update(
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
