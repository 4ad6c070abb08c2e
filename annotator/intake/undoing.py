"""Taking an import back, while nothing was built on it: each stage takes out what is its own."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.accounts.actions import withdraw_people
from annotator.accounts.models import User
from annotator.adjudication.actions import forget_settled, settle_at_close
from annotator.adjudication.finals import withdraw_finals
from annotator.agreement.actions import forget_counts, take_snapshot
from annotator.codebook.actions import withdraw_categories
from annotator.codebook.models import Codebook
from annotator.collection import withdrawing as collection
from annotator.history.actions import record
from annotator.intake.actions import taken
from annotator.intake.models import Import
from annotator.intake.queries import labelled_items
from annotator.intake.spans import ids_in
from annotator.labeling import importing as labeling
from annotator.labeling.models import Answer, Assignment, Round
from annotator.sampling.withdrawing import withdraw_bugs
from annotator.screening import importing as screening
from annotator.screening.models import Vote
from annotator.screening.withdrawing import withdraw_votes
from annotator.studies.actions import withdraw_members
from annotator.studies.models import Study
from annotator.web.withdrawing import Brought, of_spans


@transaction.atomic
def undo(*, row: Import, by: User) -> Import:
    """Remove everything that the import brought, or refuse with what stands on it."""
    row = taken(row, Import.State.DONE)
    brought: Brought = row.created_ids
    rounds = touched_rounds(brought)
    forget(row.study, rounds, brought, by=by)
    withdraw(row.study, brought, by=by)
    empty(row.filled)
    for round_ in Round.objects.filter(pk__in=[round_.pk for round_ in rounds]):
        labeling.count_places(round_=round_)
        labeling.finish_sheet(round_=round_)
        settle_at_close(round_=round_, by=by)
        take_snapshot(round_=round_, by=by)
    screening.finish_sheet(study=row.study, labelled=labelled_items(row.study), by=by)
    if "category" in brought:
        codebook, reason = Codebook.objects.get(study=row.study), f"Import {row.number} undone"
        withdraw_categories(codebook=codebook, category_ids=ids_in(brought["category"]), by=by, reason=reason)
    row.state, row.finished_at, row.created_ids, row.filled = Import.State.UNDONE, timezone.now(), {}, {}
    row.save(update_fields=["state", "finished_at", "created_ids", "filled"])
    record("undid an import", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id)
    return row


def touched_rounds(brought: Brought) -> list[Round]:
    answers = of_spans(Answer, brought.get("answer", []))
    ids = {pk for rows in answers for pk in rows.values_list("round_id", flat=True).distinct()}
    return list(Round.objects.filter(pk__in=ids | set(ids_in(brought.get("round", [])))))


def forget(study: Study, rounds: list[Round], brought: Brought, *, by: User) -> None:
    """What follows from the sheet, before the sheet goes. A count of what is taken back is no count."""
    made = set(ids_in(brought.get("round", [])))
    for round_ in rounds:
        forget_settled(round_=round_, by=by)
        if round_.pk in made:
            forget_counts(round_=round_, by=by)
    withdraw_finals(study=study, resolution_ids=ids_in(brought.get("resolution", [])), by=by)
    screening.forget_derived(study=study)
    screening.withdraw_decisions(study=study, outcome_ids=ids_in(brought.get("outcome", [])))


def withdraw(study: Study, brought: Brought, *, by: User) -> None:
    """In the order in which rows can go: what points at others first; what others may use by now stays with them."""
    withdraw_votes(brought=brought)
    labeling.withdraw_sheet(brought=brought)
    collection.withdraw_contexts(brought=brought)
    withdraw_bugs(brought=brought)
    collection.withdraw_items(brought=brought)
    withdraw_members(study=study, brought=brought, staying=at_work_in(study), by=by)
    collection.withdraw_repositories(brought=brought)
    withdraw_people(brought=brought)


def at_work_in(study: Study) -> set[int]:
    """Who rates or votes in the study."""
    raters = Assignment.objects.filter(round__study=study).order_by().values_list("rater_id", flat=True)
    reviewers = Vote.objects.filter(candidate__study=study).order_by().values_list("reviewer_id", flat=True)
    return {*raters.distinct(), *reviewers.distinct()}


def empty(filled: Mapping[str, Mapping[str, Any]]) -> None:
    """What it filled into rows that were there before, and are as it left them."""
    collection.unname_items(titles=by_id(filled, "title"))
    collection.narrow_contexts(columns=by_id(filled, "context"))
    labeling.take_back_notes(notes=by_id(filled, "note"))


def by_id(filled: Mapping[str, Mapping[str, Any]], what: str) -> dict[int, Any]:
    return {int(pk): value for pk, value in filled.get(what, {}).items()}
