"""Final labels that come from a sheet."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication import settling
from annotator.adjudication.deciding import bring_back
from annotator.adjudication.models import Resolution
from annotator.history.actions import record
from annotator.labeling.models import Round
from annotator.studies.models import Study

BATCH = 1000
STALE = -1  # equals no label: what waits for a decision gives way
Place = tuple[int, int]  # bug id, facet id


@dataclass(frozen=True)
class Final:
    """The settled label of a bug's facet as a sheet gives it: one category, or several where the facet takes them."""

    bug_id: int
    facet_id: int
    category_ids: Sequence[int]
    cell: str = ""


@transaction.atomic
def import_finals(*, study: Study, rows: Iterable[Final], round_: Round | None = None, by: User | None) -> list[int]:
    """Store the labels of a sheet, source *imported*; the ids of what is new. An equal label that is there stays.

    Call it before `settle_at_close` of the sheet's round, so that the sheet's own word is the final one.
    """
    wanted = {(row.bug_id, row.facet_id): row for row in rows}
    present = _present(study, wanted)
    new = {place: row for place, row in wanted.items() if present.get(place) != set(row.category_ids)}
    _supersede(study, [place for place in new if place in present])
    stored = Resolution.objects.bulk_create(
        [
            _resolution(study, row, category, slot, round_)
            for row in new.values()
            for slot, category in enumerate(row.category_ids)
        ],
        batch_size=BATCH,
    )
    if stored:
        settling.refresh(study.pk)
        record(
            "imported final labels",
            by=by,
            kind="study",
            object_id=study.pk,
            label=study.title,
            study_id=study.pk,
            new={"labels": len(stored)},
        )
    return [resolution.pk for resolution in stored]


def _resolution(study: Study, row: Final, category: int, slot: int, round_: Round | None) -> Resolution:
    return Resolution(
        study=study,
        bug_id=row.bug_id,
        facet_id=row.facet_id,
        slot=slot,
        category_id=category,
        round=round_,
        source=Resolution.Source.IMPORTED,
        cell=row.cell,
    )


def _present(study: Study, wanted: dict[Place, Final]) -> dict[Place, set[int | None]]:
    """Current labels of the wanted places: one query, whatever their number."""
    found: dict[Place, set[int | None]] = defaultdict(set)
    current = Resolution.objects.current().filter(study=study)
    for bug, facet, category, is_stale in current.values_list(
        "bug_id", "facet_id", "category_id", "is_stale"
    ).iterator():
        if (bug, facet) in wanted:
            found[bug, facet].add(STALE if is_stale else category)
    return found


def _supersede(study: Study, places: list[Place]) -> None:
    facets: dict[int, list[int]] = defaultdict(list)
    for bug, facet in places:
        facets[facet].append(bug)
    for facet, bugs in facets.items():
        for start in range(0, len(bugs), BATCH):
            current = Resolution.objects.current().filter(study=study, facet=facet, bug__in=bugs[start : start + BATCH])
            current.update(is_current=False)


@transaction.atomic
def withdraw_finals(*, study: Study, resolution_ids: Sequence[int], by: User | None) -> int:
    """Undo an import: take its labels away and put back those that they had replaced."""
    gone: list[Resolution] = []
    for start in range(0, len(resolution_ids), BATCH):
        part = resolution_ids[start : start + BATCH]
        gone += Resolution.objects.filter(study=study, source=Resolution.Source.IMPORTED, pk__in=part)
    for start in range(0, len(gone), BATCH):
        Resolution.objects.filter(pk__in=[row.pk for row in gone[start : start + BATCH]]).delete()
    for bug, facet in {(row.bug_id, row.facet_id) for row in gone if row.is_current}:
        bring_back(bug, facet)
    settling.refresh(study.pk)
    record(
        "took back imported final labels",
        by=by,
        kind="study",
        object_id=study.pk,
        label=study.title,
        study_id=study.pk,
        new={"labels": len(gone)},
    )
    return len(gone)
