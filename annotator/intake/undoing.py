"""Taking an import back, while nothing was built on it."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, ProtectedError, Q, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.adjudication.actions import forget_settled, settle_at_close
from annotator.adjudication.finals import withdraw_finals
from annotator.agreement.actions import take_snapshot
from annotator.agreement.models import Snapshot
from annotator.codebook.actions import withdraw_categories
from annotator.codebook.models import Codebook
from annotator.collection import linking
from annotator.collection.models import Context, Item, Repository
from annotator.history.actions import record
from annotator.intake.actions import taken
from annotator.intake.models import Import
from annotator.intake.queries import labelled_items
from annotator.intake.spans import Spans, ids_in
from annotator.labeling.importing import count_places, finish_sheet
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.screening import importing as screening
from annotator.screening.models import Candidate, Screening, Vote
from annotator.studies.models import Membership
from annotator.web.errors import Refused

# in the order in which they can go: what points at others first
TABLES: tuple[tuple[str, type[Model], str], ...] = (
    ("vote", Vote, "a screening vote"),
    ("candidate", Candidate, "a candidate of screening"),
    ("screening", Screening, "a screening"),
    ("answer", Answer, "an answer"),
    ("assignment", Assignment, "a rater's turn"),
    ("round_bug", RoundBug, "a bug of a round"),
    ("round", Round, "a round"),
    ("context", Context, "a context column"),
    ("bug", Bug, "a bug"),
    ("item", Item, "an item"),
)
# what others may use by now stays with them
SHARED: tuple[tuple[str, type[Model]], ...] = (("repository", Repository), ("user", User))
CHUNK = 500


def runs_of(spans: Spans, field: str = "pk") -> Iterator[Q]:
    """What finds the rows of these ids, some runs at a time."""
    for start in range(0, len(spans), CHUNK):
        wanted = Q()
        for first, last in spans[start : start + CHUNK]:
            wanted |= Q(**{f"{field}__range": (first, last)})
        yield wanted


def of_spans(model: type[Model], spans: Spans) -> Iterator["QuerySet[Any]"]:
    return (model._base_manager.filter(wanted) for wanted in runs_of(spans))


@transaction.atomic
def undo(*, row: Import, by: User) -> Import:
    """Remove everything that the import brought, or refuse with what stands on it."""
    row = taken(row, Import.State.DONE)
    created: dict[str, Spans] = row.created_ids
    rounds = touched_rounds(row)
    for round_ in rounds:
        forget_settled(round_=round_, by=by)
    withdraw_finals(study=row.study, resolution_ids=ids_in(created.get("resolution", [])), by=by)
    forget_snapshots(created.get("round", []))
    screening.forget_derived(study=row.study)
    screening.withdraw_decisions(study=row.study, outcome_ids=ids_in(created.get("outcome", [])))
    for items in of_spans(Item, created.get("item", [])):
        linking.let_go(items=items)
    for table, model, said in TABLES:
        remove(model, created.get(table, []), said)
    remove_memberships(row)
    for table, model in SHARED:
        for rows in of_spans(model, created.get(table, [])):
            remove_unused(rows)
    for round_ in Round.objects.filter(pk__in=[round_.pk for round_ in rounds]):
        count_places(round_=round_)
        finish_sheet(round_=round_)
        settle_at_close(round_=round_, by=by)
        take_snapshot(round_=round_, by=by)
    screening.finish_sheet(study=row.study, labelled=labelled_items(row.study), by=by)
    if "category" in created:
        codebook, reason = Codebook.objects.get(study=row.study), f"Import {row.number} undone"
        withdraw_categories(codebook=codebook, category_ids=ids_in(created["category"]), by=by, reason=reason)
    row.state, row.finished_at, row.created_ids = Import.State.UNDONE, timezone.now(), {}
    row.save(update_fields=["state", "finished_at", "created_ids"])
    record("undid an import", by=by, kind="import", object_id=row.pk, label=row.filename, study_id=row.study_id)
    return row


def touched_rounds(row: Import) -> list[Round]:
    answers = row.created_ids.get("answer", [])
    ids = {pk for rows in of_spans(Answer, answers) for pk in rows.values_list("round_id", flat=True).distinct()}
    ids |= set(ids_in(row.created_ids.get("round", [])))
    return list(Round.objects.filter(pk__in=ids))


def forget_snapshots(rounds: Spans) -> None:
    """A count of what is taken back is no count."""
    Snapshot.objects.filter(round_id__in=ids_in(rounds)).delete()


def remove(model: type[Model], spans: Spans, said: str) -> None:
    """Delete rows of which all that the import brought with them is gone; what still points at them is others' work."""
    users = [what for what, field in pointing_at(model) if any(refers(what, field, spans))]
    if users:
        names = ", ".join(sorted({str(what._meta.verbose_name) for what in users}))
        raise Refused(
            f"The import cannot be undone: {said} that it brought is in use by now ({names}). Undo that first, or keep it."
        )
    for rows in of_spans(model, spans):
        rows._raw_delete(rows.db)


def refers(model: type[Model], field: str, spans: Spans) -> Iterator[bool]:
    return (model._base_manager.filter(wanted).exists() for wanted in runs_of(spans, f"{field}__pk"))


def pointing_at(model: type[Model]) -> Iterator[tuple[type[Model], str]]:
    """Every foreign key to the model, those without a way back included."""
    for relation in model._meta.get_fields(include_hidden=True):
        field = getattr(relation, "field", None)
        if field is not None and relation.auto_created and (relation.one_to_many or relation.one_to_one):
            yield field.model, field.name


def remove_memberships(row: Import) -> None:
    """Of people who did nothing else in the study."""
    for memberships in of_spans(Membership, row.created_ids.get("membership", [])):
        rated = Assignment.objects.filter(round__study=row.study, rater=OuterRef("user"))
        voted = Vote.objects.filter(candidate__study=row.study, reviewer=OuterRef("user"))
        memberships.filter(~Exists(rated), ~Exists(voted), user__last_login=None).delete()


def remove_unused(rows: "QuerySet[Any]") -> None:
    for row in rows:
        if isinstance(row, User) and (row.last_login or row.has_usable_password()):
            continue
        try:
            with transaction.atomic():
                row.delete()
        except ProtectedError:
            continue
