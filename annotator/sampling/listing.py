"""A sample's places, page by page, with what became of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotator.sampling.models import Bug, Drawn, Sample, TopUp
from annotator.sampling.queries import Part
from annotator.sampling.rules import Rule
from annotator.stats.draws import SMALLEST
from annotator.studies.models import Study

PAGE = 50
TAKEN, RESERVE, LEFT = "taken", "reserve", "left"
STATES = [("", "any state"), (TAKEN, "taken up"), (LEFT, "left"), (RESERVE, "in reserve")]


@dataclass(frozen=True)
class Filters:
    stratum: str = ""
    state: str = ""


@dataclass(frozen=True)
class Told:
    """A bug of a place: whose place it took, and who took its own."""

    bug: Bug
    replaces: int | None
    replaced_by: int | None


@dataclass(frozen=True)
class Row:
    place: Drawn
    bugs: tuple[Told, ...]

    @property
    def is_overtaken(self) -> bool:
        """Its item holds a bug that came in another way."""
        return self.place.state == Drawn.State.RESERVE and bool(self.bugs)


@dataclass(frozen=True)
class Page:
    rows: tuple[Row, ...]
    next_after: int | None


def samples(study: Study) -> "QuerySet[Sample]":
    return Sample.objects.filter(study=study).select_related("drawn_by", "study").order_by("number")


def rule_of(sample: Sample) -> Rule:
    return Rule.of(sample.rule)


def narrowed(sample: Sample, filters: Filters) -> "QuerySet[Drawn]":
    places = Drawn.objects.filter(sample=sample)
    if filters.stratum:
        places = places.filter(stratum__label=filters.stratum)
    if filters.state in (TAKEN, RESERVE):
        places = places.filter(state=filters.state)
    if filters.state == LEFT:
        gone = Bug.objects.filter(item=OuterRef("item"), left_at__isnull=False)
        places = places.filter(Exists(gone), state=Drawn.State.TAKEN)
    return places.select_related("item__repository", "stratum")


def page(sample: Sample, filters: Filters, *, after: int = 0) -> Page:
    """By position; the whole is never counted."""
    found = list(narrowed(sample, filters).filter(position__gt=after).order_by("position")[: PAGE + 1])
    shown = found[:PAGE]
    return Page(tuple(rows(shown)), shown[-1].position if len(found) > PAGE else None)


def rows(places: Sequence[Drawn]) -> list[Row]:
    bugs = list(Bug.objects.filter(item__in=[place.item_id for place in places]).order_by("ordinal"))
    came = dict(TopUp.objects.filter(came__in=bugs).values_list("came", "left__number"))
    left = dict(TopUp.objects.filter(left__in=bugs).values_list("left", "came__number"))
    by_item: dict[int, list[Told]] = {}
    for bug in bugs:
        by_item.setdefault(bug.item_id, []).append(Told(bug, came.get(bug.pk), left.get(bug.pk)))
    return [Row(place, tuple(by_item.get(place.item_id, ()))) for place in places]


def smallest_to_read(sample: Sample, parts: Sequence[Part]) -> Part | None:
    """The stratum that has to be read whole before it is known how many bugs are wanted of the others."""
    if sample.rule.get("kind") != SMALLEST:
        return None
    smallest = min(parts, key=lambda part: (part.size, part.label))
    return smallest if smallest.reserve else None


def sample_of(bug: Bug) -> Sample | None:
    """The one that took its item up."""
    place = Drawn.objects.filter(item=bug.item_id, state=Drawn.State.TAKEN).select_related("sample").first()
    return place.sample if place else None
