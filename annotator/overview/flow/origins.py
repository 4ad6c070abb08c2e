"""Where items and bugs came from: what sheets, draws and raters' notes put on record, to hold the rows against."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q

from annotator.history.models import Event
from annotator.intake.models import Import
from annotator.sampling.models import Bug
from annotator.studies.models import Study

Run = tuple[int, int]  # first and last


@dataclass(frozen=True)
class Origins:
    """Runs of ids that sheets made, runs of numbers that were taken up here, and items that were kept as copies."""

    sheet_items: tuple[Run, ...]
    sheet_bugs: tuple[Run, ...]
    taken_up: tuple[Run, ...]
    kept_items: int

    @property
    def items(self) -> int:
        """Brought in otherwise than by a harvest."""
        return self.kept_items + _length(self.sheet_items)

    @property
    def bugs(self) -> int:
        return _length(self.sheet_bugs) + _length(self.taken_up)

    @property
    def are_bugs(self) -> Q:
        """Of bugs: on record."""
        return in_runs("pk", self.sheet_bugs) | in_runs("number", self.taken_up)

    @property
    def are_sheet_items(self) -> Q:
        return in_runs("pk", self.sheet_items)


def origins_of(study: Study) -> Origins:
    done = Import.objects.filter(study=study, state=Import.State.DONE)
    items, bugs = (
        merged(
            (first, last)
            for spans in done.values_list(f"created_ids__{table}", flat=True)
            for first, last in spans or ()
        )
        for table in ("item", "bug")
    )
    events = Event.objects.of_study(study.pk)
    taken = events.filter(kind="sampling", verb="took up bugs").values_list("new", flat=True)
    kept = events.filter(kind="collection", verb="kept copies of items").values_list("new", flat=True)
    return Origins(
        sheet_items=items,
        sheet_bugs=bugs,
        taken_up=merged((new["first"], new["first"] + new["bugs"] - 1) for new in taken if new["bugs"]),
        kept_items=sum(new["items"] for new in kept),
    )


def unaccounted(study: Study, origins: Origins) -> list[int]:
    """Numbers of bugs of which nothing is on record, the first few."""
    rows = Bug.objects.filter(study=study).exclude(origins.are_bugs).order_by("number")
    return list(rows.values_list("number", flat=True)[:10])


def merged(runs: Iterable[Run]) -> tuple[Run, ...]:
    out: list[Run] = []
    for first, last in sorted(runs):
        if out and out[-1][1] == first - 1:
            out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return tuple(out)


def in_runs(field: str, runs: Iterable[Run]) -> Q:
    wanted = Q(pk__in=[])
    for run in runs:
        wanted |= Q(**{f"{field}__range": run})
    return wanted


def _length(runs: Iterable[Run]) -> int:
    return sum(last - first + 1 for first, last in runs)
