"""Votes as a sheet holds them: many at once, inside an import's transaction."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass

from django.db import transaction
from django.db.models import Max

from annotator.accounts.models import User
from annotator.screening.models import Candidate, Outcome, Screening, Vote
from annotator.screening.settling import BATCH, settle_imported, supersede
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows
from annotator.web.errors import Refused

NAME = "Imported votes"
WEAKEST_FIRST = [Screening.Blindness.NO, Screening.Blindness.UNKNOWN, Screening.Blindness.DECLARED]
DECISION = ("candidate_id", "decision", "source", "criterion_id", "note")
VOTE = ("candidate_id", "reviewer_id", "decision", "comment", "cell", "criterion_id")


@dataclass(frozen=True, slots=True)
class SheetVote:
    candidate_id: int
    reviewer_id: int
    decision: str
    comment: str
    cell: str
    criterion_id: int | None = None


@dataclass(frozen=True, slots=True)
class SheetDecision:
    """`source` is imported, or dropped where the candidate was in before."""

    candidate_id: int
    decision: str
    source: str
    criterion_id: int | None = None
    note: str = ""


@transaction.atomic
def imported_screening(*, study: Study, blindness: str, by: User | None) -> tuple[Screening, bool]:
    """The one that holds what sheets bring, and whether it was made now. It is as blind as its weakest sheet with votes."""
    found = Screening.objects.select_for_update(of=("self",)).filter(study=study, state=Screening.State.IMPORTED)
    screening = found.first()
    if screening is None:
        return _new(study, blindness or Screening.Blindness.UNKNOWN, by), True
    if not blindness:
        return screening, False
    weaker = min(screening.blindness, blindness, key=lambda each: WEAKEST_FIRST.index(Screening.Blindness(each)))
    if weaker != screening.blindness:
        screening.blindness = weaker
        screening.save(update_fields=["blindness"])
    return screening, False


def _new(study: Study, blindness: str, by: User | None) -> Screening:
    latest = Screening.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    return Screening.objects.create(
        study=study,
        number=latest + 1,
        name=NAME,
        state=Screening.State.IMPORTED,
        rule=Screening.Rule.DISCUSSED,
        blindness=blindness,
        overlap=0,
        opened_by=by,
    )


@transaction.atomic
def add_candidates(*, screening: Screening, items: Iterable[int]) -> dict[int, int]:
    """Ids by item, of all candidates of the screening."""
    last = Candidate.objects.filter(screening=screening).aggregate(last=Max("position"))["last"] or 0
    rows = ((item, position) for position, item in enumerate(items, last + 1))
    insert_rows(Candidate, ("item_id", "position"), rows, study_id=screening.study_id, screening_id=screening.pk)
    return dict(Candidate.objects.filter(screening=screening).values_list("item_id", "pk"))


@transaction.atomic
def add_votes(*, rows: Sequence[SheetVote]) -> int:
    return insert_rows(Vote, VOTE, (astuple(row) for row in rows))


@transaction.atomic
def add_decisions(*, study: Study, rows: Sequence[SheetDecision], by: User | None) -> list[int]:
    """What a sheet says of candidates takes the place of what was counted or said before. The new ids."""
    ids = [row.candidate_id for row in rows]
    current = Outcome.objects.current().filter(candidate__study=study)
    held = dict(current.values_list("candidate", "pk"))
    supersede([held[candidate] for candidate in ids if candidate in held])
    last = Outcome.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    values = ((row.candidate_id, row.decision, row.source, row.criterion_id, row.note) for row in rows)
    insert_rows(Outcome, DECISION, values, by_id=by.pk if by else None)
    made = Outcome.objects.filter(candidate__study=study, pk__gt=last).order_by("pk")
    return list(made.values_list("pk", flat=True))


@transaction.atomic
def finish_sheet(*, study: Study, labelled: Collection[int], by: User | None) -> None:
    """What follows from the votes of all sheets together; items in `labelled` are held as bugs."""
    screening = Screening.objects.filter(study=study, state=Screening.State.IMPORTED).first()
    if screening is not None:
        voters = Vote.objects.filter(candidate__screening=screening).order_by().values("reviewer").distinct()
        screening.reviewers.set(User.objects.filter(pk__in=voters))
        settle_imported(study, labelled=labelled, by_id=by.pk if by else None)


@transaction.atomic
def forget_derived(*, study: Study) -> None:
    """Before votes of sheets are taken back: what follows from them goes too, and is worked out anew afterwards."""
    derived = Outcome.objects.filter(candidate__study=study, source__in=Outcome.DERIVED)
    derived.filter(candidate__screening__state=Screening.State.IMPORTED).delete()
    for screening in Screening.objects.filter(study=study, state=Screening.State.IMPORTED):
        screening.reviewers.clear()


@transaction.atomic
def withdraw_decisions(*, study: Study, outcome_ids: Collection[int]) -> None:
    """Take back what a sheet said; what was said before it stands again. Refused where people decided since."""
    if not outcome_ids:
        return
    wanted = set(outcome_ids)
    mine = [one for one in Outcome.objects.filter(candidate__study=study) if one.pk in wanted]
    newest = {one.candidate_id: one.pk for one in mine}
    others = Outcome.objects.filter(candidate__study=study).exclude(source__in=Outcome.DERIVED).order_by("pk")
    rest = [one for one in others if one.pk not in wanted and one.candidate_id in newest]
    if any(one.pk > newest[one.candidate_id] for one in rest):
        raise Refused("The import cannot be undone: what it says of candidates was decided anew since. Keep it.")
    for start in range(0, len(mine), BATCH):
        Outcome.objects.filter(pk__in=[one.pk for one in mine[start : start + BATCH]]).delete()
    for outcome in {one.candidate_id: one for one in rest}.values():
        Outcome.objects.filter(pk=outcome.pk).update(is_current=True)
