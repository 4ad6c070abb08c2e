"""Votes as a sheet holds them: many at once, inside an import's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotator.screening.models import Candidate, Vote
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows


@dataclass(frozen=True, slots=True)
class SheetVote:
    candidate_id: int
    reviewer_id: int
    decision: str
    reason: str
    cell: str


@transaction.atomic
def add_candidates(*, study: Study, items: Iterable[int]) -> dict[int, int]:
    """Ids by item, of all candidates of the study."""
    insert_rows(Candidate, ("study_id", "item_id"), ((study.pk, item) for item in items))
    return dict(Candidate.objects.filter(study=study).values_list("item_id", "pk"))


@transaction.atomic
def add_votes(*, rows: Sequence[SheetVote]) -> int:
    columns = ("candidate_id", "reviewer_id", "decision", "reason", "cell")
    return insert_rows(
        Vote, columns, ((row.candidate_id, row.reviewer_id, row.decision, row.reason, row.cell) for row in rows)
    )
