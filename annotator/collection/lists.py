"""Lists of what was collected: narrowed by what stands in the address, paged by key, never counted whole."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from annotator.collection.models import Finding, Harvest, Item, Window
from annotator.studies.models import Study
from annotator.web.numbers import whole

PAGE = 100
FINDINGS = {
    "found": ("Found", ~Q(state=Finding.State.PASSED_OVER)),
    "fetched": ("Fetched", Q(state=Finding.State.FETCHED)),
    "unavailable": ("Unavailable", Q(state=Finding.State.UNAVAILABLE)),
    "to_fetch": ("To fetch", Q(state=Finding.State.FOUND)),
    "lacking": ("Lacking parts", Q(state=Finding.State.FETCHED) & ~Q(lacks=[])),
    "edited": ("Edited since", Q(edited_at__isnull=False)),
    "passed_over": ("Passed over", Q(state=Finding.State.PASSED_OVER)),
}
WINDOWS = {
    "all": ("All", Q()),
    "capped": ("Capped", Q(is_capped=True)),
    "partial": ("Partial", Q(is_partial=True)),
    "uncounted": ("Not counted yet", Q(state=Window.State.WAITING)),
}

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Page(Generic[M]):
    """Some rows; `after` and `before` are where the next and the previous page begin, empty at the ends."""

    rows: tuple[M, ...]
    after: str
    before: str


@dataclass(frozen=True)
class Place:
    """Beside which row a page begins, and on which side of it."""

    values: tuple[Any, ...]
    is_before: bool = False


def paged(
    rows: "QuerySet[M]", *, order: tuple[str, ...], place: Place | None, key: Callable[[M], str], size: int = PAGE
) -> Page[M]:
    is_before = place is not None and place.is_before
    if place is not None:
        rows = rows.filter(_beside(order, place.values, "lt" if is_before else "gt"))
    found = list(rows.order_by(*(f"-{name}" if is_before else name for name in order))[: size + 1])
    shown, is_more = found[:size][:: -1 if is_before else 1], len(found) > size
    has_next, has_previous = (True, is_more) if is_before else (is_more, place is not None)
    return Page(
        tuple(shown),
        after=key(shown[-1]) if shown and has_next else "",
        before=key(shown[0]) if shown and has_previous else "",
    )


def _beside(order: tuple[str, ...], values: tuple[Any, ...], than: str) -> Q:
    found = Q(pk__in=())
    for depth, name in enumerate(order):
        same = dict(zip(order[:depth], values[:depth], strict=True))
        found |= Q(**same, **{f"{name}__{than}": values[depth]})
    return found


# --- findings and windows of a harvest


@dataclass(frozen=True)
class FindingFilters:
    show: str = "found"
    reason: str = ""
    repository: str = ""


def findings_of(harvest: Harvest, filters: FindingFilters) -> "QuerySet[Finding]":
    rows = Finding.objects.filter(FINDINGS[filters.show][1], harvest=harvest)
    if filters.reason:
        rows = rows.filter(reason=filters.reason)
    if filters.repository:
        rows = rows.filter(repository__label=filters.repository)
    return rows.select_related("repository", "item__repository")


def page_of_findings(rows: "QuerySet[Finding]", sent: Mapping[str, str]) -> Page[Finding]:
    """By repository and number."""
    return paged(
        rows,
        order=("repository__label", "number"),
        place=_place(sent, lambda text: whole(text) or 0),
        key=lambda row: f"{row.repository.label}~{row.number}",
    )


def page_of_windows(harvest: Harvest, show: str, sent: Mapping[str, str]) -> Page[Window]:
    """By repository, the earliest first."""
    return paged(
        Window.objects.filter(WINDOWS[show][1], harvest=harvest).select_related("repository"),
        order=("repository__label", "starts"),
        place=_place(sent, _moment),
        key=lambda row: f"{row.repository.label}~{row.starts:%Y-%m-%dT%H:%M:%S}",
    )


def _place(sent: Mapping[str, str], read: Callable[[str], Any]) -> Place | None:
    """From an address: `after` or `before` a repository's label, a tilde, and what is read."""
    asked = sent.get("after") or sent.get("before") or ""
    label, tilde, rest = asked.rpartition("~")
    return Place((label, read(rest)), is_before=not sent.get("after")) if tilde else None


def _moment(text: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    except ValueError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)


# --- items of a study


@dataclass(frozen=True)
class ItemFilters:
    words: str = ""
    repository: str = ""
    kind: str = ""
    state: str = ""
    harvest: str = ""


def items_of(study: Study, filters: ItemFilters) -> "QuerySet[Item]":
    items = Item.objects.filter(study=study).select_related("repository")
    if filters.words:
        named = Q(title__icontains=filters.words)
        if number := whole(filters.words.lstrip("#")):
            named |= Q(number=number)
        items = items.filter(named)
    if filters.repository:
        items = items.filter(repository__label=filters.repository)
    if filters.kind:
        items = items.filter(kind=filters.kind)
    if filters.state:
        items = items.filter(state=filters.state)
    if filters.harvest:
        hits = Finding.objects.filter(
            item=OuterRef("pk"), harvest__study=study, harvest__number=whole(filters.harvest) or 0
        )
        items = items.filter(Exists(hits))
    return items


def page_of_items(study: Study, filters: ItemFilters, sent: Mapping[str, str]) -> Page[Item]:
    """As they came in. The address names the item beside which the page begins."""
    asked = sent.get("after") or sent.get("before") or ""
    beside = Item.objects.filter(study=study, identity=asked).values_list("pk", flat=True).first() if asked else None
    return paged(
        items_of(study, filters),
        order=("pk",),
        place=Place((beside,), is_before=not sent.get("after")) if beside else None,
        key=lambda item: item.identity,
    )
