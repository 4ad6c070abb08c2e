"""Bringing a sheet into a study: all of it or nothing."""

import hashlib
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.adjudication.actions import settle_at_close
from annotator.agreement.actions import take_snapshot
from annotator.history.actions import record
from annotator.intake.heads import Head, heads_of
from annotator.intake.mapping import Mapping, to_document
from annotator.intake.models import Import
from annotator.intake.planning import Progress, make_plan, without_collecting
from annotator.intake.plans import Plan
from annotator.intake.queries import known_of
from annotator.intake.sheets import Sheet, read_grid, read_sheet
from annotator.intake.spans import spans_of
from annotator.intake.storing import Stored, Storer
from annotator.studies.models import Study
from annotator.web.errors import Refused

COUNTED = ("rows", "items_created", "bugs_created", "bugs_matched", "answers", "finals", "votes")


def dry_run(*, study: Study, sheet: Sheet, mapping: Mapping, progress: Progress | None = None) -> Plan:
    """What the sheet would bring and what is wrong with it. Stores nothing."""
    return make_plan(sheet=sheet, mapping=mapping, known=known_of(study, mapping), progress=progress)


@transaction.atomic
def run_import(
    *, study: Study, sheet: Sheet, mapping: Mapping, by: User | None
) -> tuple[dict[str, Any], Stored | None]:
    """Store what the sheet brings, and report it. With errors, or where all of it is there, nothing is stored."""
    Study.objects.select_for_update().get(pk=study.pk)
    known = known_of(study, mapping)
    plan = make_plan(sheet=sheet, mapping=mapping, known=known)
    report = plan.report()
    if plan.errors or plan.is_empty:
        return report, None
    with without_collecting():
        stored = Storer(study=study, plan=plan, known=known, by=by).run()
    for round_ in stored.rounds:
        settle_at_close(round_=round_, by=by)
        take_snapshot(round_=round_, by=by)
    return report, stored


@transaction.atomic
def import_file(
    *, study: Study, filename: str, data: bytes, sheet: Sheet, mapping: Mapping, by: User | None
) -> dict[str, Any]:
    """Import, and keep the file with its mapping where anything came of it. The report of `import_sheet`."""
    report, stored = run_import(study=study, sheet=sheet, mapping=mapping, by=by)
    if stored is None:
        return report
    row = new_import(study=study, filename=filename, data=data, by=by)
    row.mapping = to_document(mapping)
    finish(row, report, stored, by=by)
    return report


def new_import(*, study: Study, filename: str, data: bytes, by: User | None) -> Import:
    """Under the study's next number; the caller holds the study's row."""
    latest = Import.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    return Import(
        study=study,
        number=latest + 1,
        filename=(filename.replace("\x00", "") or "sheet")[-255:],
        file=data,
        sha256=hashlib.sha256(data).hexdigest(),
        created_by=by,
    )


def finish(row: Import, report: dict[str, Any], stored: Stored | None, *, by: User | None) -> None:
    """Write down what came of it, in the transaction that stored it."""
    row.state = Import.State.FAILED if report["errors"] else Import.State.DONE
    created = stored.created if stored else {}
    row.report, row.created_ids = report, {table: spans_of(ids) for table, ids in created.items() if ids}
    row.filled = {what: values for what, values in stored.filled.items() if values} if stored else {}
    row.rows_done = row.rows_total = report["rows"]
    row.lease_until, row.lease_owner, row.finished_at = None, "", timezone.now()
    row.save()
    if stored is None:
        return
    new = {"file": row.filename, "sha256": row.sha256, **{name: report[name] for name in COUNTED}}
    record(
        "imported a sheet", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id, new=new
    )


# --- in the browser: upload, choose columns, check, start


def upload(*, study: Study, filename: str, data: bytes, by: User, mapping: Mapping | None = None) -> Import:
    """Keep a file that can be read; which of its columns mean what comes next, where no mapping says it."""
    head = heads_of(data, filename=filename)  # outside the transaction, which on SQLite keeps all others waiting
    report = check(Import(study=study, filename=filename, file=data), mapping) if mapping else {}
    return keep_upload(study=study, filename=filename, data=data, head=head, mapping=mapping, report=report, by=by)


@transaction.atomic
def keep_upload(
    *, study: Study, filename: str, data: bytes, head: Head, mapping: Mapping | None, report: dict[str, Any], by: User
) -> Import:
    Study.objects.select_for_update().get(pk=study.pk)
    row = new_import(study=study, filename=filename, data=data, by=by)
    row.head = head
    row.save()
    new = {"file": row.filename, "sha256": row.sha256, "bytes": len(data)}
    record("uploaded a sheet", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=study.pk, new=new)
    return keep_choice(row=row, mapping=mapping, report=report, by=by) if mapping else row


def check(row: Import, mapping: Mapping) -> dict[str, Any]:
    """The report of a dry run over the whole file. BadInput where the mapping does not fit it."""
    return dry_run(study=row.study, sheet=sheet_of(row, mapping), mapping=mapping).report()


def sheet_of(row: Import, mapping: Mapping) -> Sheet:
    grid = read_grid(bytes(row.file), filename=row.filename, sheet=mapping.sheet)
    return read_sheet(grid, header_rows=mapping.header_rows)


def choose(*, row: Import, mapping: Mapping, by: User) -> Import:
    """Set how the columns are read, and keep what a dry run says of it: outside the transaction, as above."""
    return keep_choice(row=row, mapping=mapping, report=check(row, mapping), by=by)


@transaction.atomic
def keep_choice(*, row: Import, mapping: Mapping, report: dict[str, Any], by: User) -> Import:
    row = taken(row, Import.State.UPLOADED, Import.State.FAILED)
    row.mapping, row.report, row.state = to_document(mapping), report, Import.State.UPLOADED
    row.rows_total = report["rows"]
    row.save(update_fields=["mapping", "report", "state", "rows_total"])
    new = {"mapping": row.mapping, "errors": len(report["errors"])}
    record("chose columns", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id, new=new)
    return row


def taken(row: Import, *states: str) -> Import:
    """The row, held, in one of the states; otherwise somebody else was quicker."""
    held = Import.objects.select_for_update(of=("self",)).select_related("study").filter(pk=row.pk).first()
    if held is None:
        raise Refused("This upload was dropped meanwhile; nothing was stored from it.")
    if held.state not in states:
        raise Refused(f"This import is {held.get_state_display().lower()} by now; load the page again.")
    return held


@transaction.atomic
def start(*, row: Import, by: User) -> Import:
    """Hand it to a worker; the caller wakes one."""
    row = taken(row, Import.State.UPLOADED)
    if not row.report:
        raise Refused("Choose the columns first.")
    if row.report["errors"]:
        raise Refused(
            f"{len(row.report['errors'])} errors stand in the way: nothing can be stored before they are mended."
        )
    row.state, row.rows_done = Import.State.WAITING, 0
    row.save(update_fields=["state", "rows_done"])
    record("started an import", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id)
    return row


@transaction.atomic
def discard(*, row: Import, by: User) -> None:
    """Drop an upload from which nothing was stored."""
    row = taken(row, Import.State.UPLOADED, Import.State.FAILED)
    record("dropped an upload", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id)
    row.delete()
