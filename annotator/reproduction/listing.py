"""The recipes of a study as a list that is narrowed by its address."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Q

from annotator.accounts.models import User
from annotator.reproduction import queries, verdicts
from annotator.reproduction.models import Recipe, RecipeQuerySet, Run
from annotator.reproduction.queries import Told
from annotator.reproduction.wording import NEVER, chip
from annotator.studies.models import Study
from annotator.web.numbers import whole

PAGE = 50
CHUNK = 60
VERDICTS = [*verdicts.SAID.items(), (NEVER, "Never run")]


@dataclass(frozen=True)
class Filters:
    words: str = ""
    verdict: str = ""
    repository: str = ""
    is_mine: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    recipe: Recipe
    told: Told | None

    @property
    def chip(self) -> tuple[str, str]:
        return chip(self.told)

    @property
    def verdict(self) -> str:
        return self.told.verdict.verdict if self.told else NEVER

    @property
    def through(self) -> int:
        ended = (Run.State.ENDED, Run.State.CANCELLED)
        return sum(run.state in ended for run in self.told.runs) if self.told else 0

    @property
    def waits_for_gpu(self) -> bool:
        runs = self.told.runs if self.told else ()
        return any(run.state == Run.State.WAITING and run.queue == Run.Queue.GPU for run in runs)

    @property
    def is_differential(self) -> bool:
        return bool(self.told and not any(one.expects for one in self.told.verdict.environments))

    @property
    def is_underway(self) -> bool:
        return self.told is not None and not self.told.is_over


@dataclass(frozen=True, kw_only=True)
class Page:
    lines: tuple[Line, ...]
    next_before: int | None

    @property
    def is_underway(self) -> bool:
        return any(line.is_underway for line in self.lines)


def filters_of(sent: Mapping[str, str]) -> Filters:
    """As an address has them."""
    verdict = sent.get("verdict", "")
    return Filters(
        words=sent.get("q", "").strip()[:200],
        verdict=verdict if verdict in dict(VERDICTS) else "",
        repository=sent.get("repository", "")[:500],
        is_mine=sent.get("mine", "") in ("1", "true"),
    )


def page(visible: RecipeQuerySet, filters: Filters, *, viewer: User, before: int | None) -> Page:
    """Newest first. A verdict is worked out from runs, so by verdict the list is read on until a page is full."""
    rows = narrowed(visible.current(), filters, viewer=viewer)
    wanted = (line for line in read_on(rows, before) if filters.verdict in ("", line.verdict))
    found = list(islice(wanted, PAGE + 1))
    more = len(found) > PAGE
    return Page(lines=tuple(found[:PAGE]), next_before=found[PAGE - 1].recipe.number if more else None)


def of_verdict(rows: RecipeQuerySet, verdict: str) -> RecipeQuerySet:
    """All of them are read for it."""
    return rows.filter(pk__in=[line.recipe.pk for line in read_on(rows) if line.verdict == verdict])


def read_on(rows: RecipeQuerySet, before: int | None = None) -> Iterator[Line]:
    """Newest first, a few at a time."""
    rows = rows.order_by("-number")
    while chunk := list((rows.filter(number__lt=before) if before else rows)[:CHUNK]):
        yield from lines_of(chunk)
        if len(chunk) < CHUNK:
            return
        before = chunk[-1].number


def lines_of(listed: Sequence[Recipe]) -> list[Line]:
    latest = queries.latest_told(listed) if listed else {}
    return [Line(recipe=row, told=latest.get((row.study_id, row.number))) for row in listed]


def narrowed(rows: RecipeQuerySet, filters: Filters, *, viewer: User) -> RecipeQuerySet:
    if filters.repository:
        rows = rows.filter(bug__item__repository__label=filters.repository)
    if filters.is_mine:
        rows = rows.filter(created_by=viewer)
    return rows.filter(_says(filters.words)) if filters.words else rows


def _says(words: str) -> Q:
    """R-17 or 17 by number, #123 by the number on GitHub, else a part of the recipe's name or the bug's title."""
    if words[:1] == "#":
        return Q(bug__item__number=whole(words[1:]) or 0)
    number = whole(words.upper().removeprefix("R-"))
    if number is not None:
        is_recipe = words.upper().startswith("R-")
        return Q(number=number) if is_recipe else Q(number=number) | Q(bug__number=number) | Q(bug__item__number=number)
    return Q(name__icontains=words) | Q(bug__item__title__icontains=words)


def repositories(visible: RecipeQuerySet) -> list[str]:
    rows = visible.current().exclude(bug__item__repository=None).order_by("bug__item__repository__label")
    return list(rows.values_list("bug__item__repository__label", flat=True).distinct())


def waiting_for_gpu(study: Study, viewer: User, roles: Iterable[str]) -> int:
    waiting = queries.runs_visible_to(study, viewer, roles).filter(state=Run.State.WAITING, queue=Run.Queue.GPU)
    return waiting.count()
