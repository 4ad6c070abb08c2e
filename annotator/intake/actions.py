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
from annotator.intake.mapping import Mapping, to_document
from annotator.intake.models import Import
from annotator.intake.planning import Progress, make_plan
from annotator.intake.plans import Plan
from annotator.intake.queries import known_of
from annotator.intake.sheets import Sheet
from annotator.intake.storing import Stored, Storer
from annotator.studies.models import Study

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
    row = Import.objects.create(
        study=study,
        number=next_number(study),
        filename=filename[-255:],
        file=data,
        sha256=hashlib.sha256(data).hexdigest(),
        mapping=to_document(mapping),
        state=Import.State.DONE,
        rows_done=report["rows"],
        rows_total=report["rows"],
        report=report,
        created_ids=spans_of(stored),
        created_by=by,
        finished_at=timezone.now(),
    )
    record_import(row, by=by)
    return report


def next_number(study: Study) -> int:
    return (Import.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0) + 1


def record_import(row: Import, *, by: User | None) -> None:
    counts = {name: row.report[name] for name in COUNTED} if row.report else {}
    new = {"file": row.filename, "sha256": row.sha256, **counts}
    record(
        "imported a sheet", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id, new=new
    )


def spans_of(stored: Stored) -> dict[str, list[list[int]]]:
    """Ids as runs [first, last]: tens of thousands in a few pairs."""
    return {table: spans(ids) for table, ids in stored.created.items() if ids}


def spans(ids: list[int]) -> list[list[int]]:
    out: list[list[int]] = []
    for pk in sorted(ids):
        if out and out[-1][1] == pk - 1:
            out[-1][1] = pk
        else:
            out.append([pk, pk])
    return out
