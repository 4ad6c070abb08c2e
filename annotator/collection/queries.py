"""What a harvest found, counted from its findings."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotator.collection.models import Finding, Harvest, Window
from annotator.collection.wanted import Wanted, from_document
from annotator.studies.models import Study


@dataclass(frozen=True)
class Unavailable:
    repository: str
    number: int
    reason: str


@dataclass(frozen=True)
class Statement:
    """How complete a harvest is. `capped`: hits that no search gives; `partial`: windows or items that lack some."""

    found: int
    fetched: int
    unavailable: tuple[Unavailable, ...]
    capped: int
    partial: int
    is_complete: bool


def same_harvest(study: Study, wanted: Wanted, host: str) -> Harvest | None:
    """The latest with this query that was not given up."""
    rows = Harvest.objects.filter(study=study, host=host).exclude(state=Harvest.State.CANCELLED).order_by("-number")
    return next((row for row in rows if from_document(row.query) == wanted), None)


def statement_of(harvest: Harvest) -> Statement:
    """Complete: done, and nothing that was found is missing."""
    findings = Finding.objects.filter(harvest=harvest)
    counts = findings.aggregate(
        found=Count("pk", filter=~Q(state=Finding.State.PASSED_OVER)),
        fetched=Count("pk", filter=Q(state=Finding.State.FETCHED)),
    )
    gone = findings.filter(state=Finding.State.UNAVAILABLE).select_related("repository")
    unavailable = tuple(
        Unavailable(f"{row.repository.owner}/{row.repository.name}", row.number, row.reason)
        for row in gone.order_by("repository__label", "number")
    )
    windows = Window.objects.filter(harvest=harvest)
    over = windows.filter(is_capped=True).values_list("hits", flat=True)
    lacking = findings.filter(state=Finding.State.FETCHED).exclude(lacks=[])
    partial = windows.filter(is_partial=True).count() + lacking.count()
    capped = sum(hits - 1_000 for hits in over)
    return Statement(
        found=counts["found"],
        fetched=counts["fetched"],
        unavailable=unavailable,
        capped=capped,
        partial=partial,
        is_complete=harvest.state == Harvest.State.DONE
        and not unavailable
        and not capped
        and not partial
        and counts["found"] == counts["fetched"],
    )
