"""What screening needs of the viewer next. Of an open screening only what they may know."""

from collections.abc import Iterator

from django.urls import reverse

from annotator.overview.home import Viewer
from annotator.overview.step import Step
from annotator.screening import queries
from annotator.screening.models import Screening
from annotator.studies.models import Role, Study


def to_screen(study: Study, viewer: Viewer) -> Iterator[Step]:
    """Own candidates that wait; a lead also learns that all are done, and what the votes left open."""
    if not viewer.roles & {Role.RATER, Role.LEAD}:
        return
    screenings = list(Screening.objects.filter(study=study).order_by("number"))
    told = queries.progress_by_screening(screenings, viewer=viewer.user, is_lead=viewer.is_lead) if screenings else {}
    for screening in screenings:
        if screening.is_open:
            yield from _open(study, screening, told[screening.pk], viewer)
    if screenings and viewer.is_lead and (count := queries.counts(study).conflict):
        address = reverse("screening:candidates", args=[study.slug])
        verb = "waits" if count == 1 else "wait"
        text = "votes of closed screenings that decide nothing by themselves"
        yield Step(f"{_candidates(count)} in conflict {verb}", text, f"{address}?what=conflict", "Settle")


def _open(study: Study, screening: Screening, told: list[queries.Progress], viewer: Viewer) -> Iterator[Step]:
    mine = [one for one in told if one.reviewer == viewer.user]
    if left := sum(one.left for one in mine):
        verb = "waits" if left == 1 else "wait"
        url = reverse("screening:read", args=[study.slug, screening.number])
        text = "blind until the screening closes"
        yield Step(f"{_candidates(left)} of {screening.name} {verb} for your vote", text, url, "Screen")
    elif viewer.is_lead and told and not any(one.left for one in told):
        url = reverse("screening:screening", args=[study.slug, screening.number])
        if mine:
            text = "ask the other reviewers whether they are done, too"
            yield Step(f"You have voted on all of {screening.name}", text, url, "Close screening")
        else:
            text = "closing locks the votes and writes what they decide"
            yield Step(f"Everybody is done with {screening.name}", text, url, "Close screening")


def _candidates(count: int) -> str:
    return f"{count:,} candidate{'' if count == 1 else 's'}"
