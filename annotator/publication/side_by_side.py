"""One row a bug: what each rater said beside the other, the final label and its source; and the mapping back."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import yaml

from annotator.accounts.models import User
from annotator.adjudication.queries import FINAL_KINDS, final_rounds
from annotator.analysis.labels import verdict_is_plain
from annotator.codebook.models import Category, Facet
from annotator.collection.models import Item
from annotator.labeling.models import Answer, Assignment, Round
from annotator.labeling.proposals import hidden_codes
from annotator.labeling.queries import BLIND_IS_OVER
from annotator.publication import queries
from annotator.publication.batches import Looked, Range, by_range, constant, lookup, select, taken
from annotator.publication.columns import (
    ANSWERS,
    BUGS,
    CONTEXT,
    FINALS,
    SIDE_BY_SIDE,
    TEXT,
    Batch,
    Cells,
    Column,
    Table,
    Value,
    place,
)
from annotator.publication.lookups import Names
from annotator.sampling.models import Bug
from annotator.studies.models import Study

NAME = "side_by_side"
BESIDE = ("confidence", "note")  # of a rater, after the facets
MISSING = "–"  # the code of what a bug does not have: no key of a row
SEPARATORS = ("|", ";", "¦", "␟")  # between several labels in a cell: the first that no label holds
Hide = Callable[[str], str]


@dataclass(frozen=True)
class Layout:
    """Which raters, facets and columns of sheets the table has, in order."""

    raters: dict[str, str]  # user name to the name shown
    facets: tuple[str, ...]
    many: tuple[str, ...]
    contexts: tuple[str, ...]
    separator: str

    def columns(self) -> tuple[Column, ...]:
        names = [f"{shown}: {what}" for shown in self.raters.values() for what in (*self.facets, *BESIDE)]
        names += [f"{what} {facet}" for facet in self.facets for what in ("final", "source")]
        return (
            *SIDE_BY_SIDE,
            *(Column(name, TEXT, "") for name in (*names, *(CONTEXT + name for name in self.contexts))),
        )


def layout_of(study: Study, hide: Hide | None) -> Layout:
    raters = User.objects.filter(pk__in=counted(study).values("rater")).values_list("username", flat=True)
    shown = sorted((hide(name) if hide else name, name) for name in raters)
    wanted = Facet.objects.filter(codebook__study=study)
    if verdict_is_plain(study):
        wanted = wanted.exclude(key=Facet.VERDICT)
    many = [facet.key for facet in wanted if facet.is_many]
    return Layout(
        raters={name: alias for alias, name in shown},
        facets=tuple(facet.key for facet in wanted),
        many=tuple(many),
        contexts=tuple(queries.context_names(study)),
        separator=separator_for(study, many),
    )


def separator_for(study: Study, many: list[str]) -> str:
    names = Category.objects.filter(facet__codebook__study=study, facet__key__in=many)
    names = names.exclude(pk__in=hidden_codes(study))
    held = "".join(names.values_list("name", flat=True))
    return next((mark for mark in SEPARATORS if mark not in held), SEPARATORS[-1])


def counted(study: Study) -> Any:
    """Answers of the rounds that make final labels."""
    return Answer.objects.current().filter(
        round__study=study, round__kind__in=FINAL_KINDS, round__state__in=BLIND_IS_OVER
    )


def table(study: Study, *, hide: Hide | None = None) -> Table:
    layout = layout_of(study, hide)
    return Table(NAME, layout.columns(), batches(study, layout))


def batches(study: Study, layout: Layout) -> Iterator[Batch]:
    about = tuple(column for column in BUGS if column in SIDE_BY_SIDE)
    answers, finals = Answers(study), queries.Finals(study)

    def read(bugs: Range) -> Batch:
        keys, rows = queries.keyed_rows(answers.names, bugs, about, list(layout.contexts))
        beside = [*cells_of(layout, answers.read(bugs), keys), *labels_of(layout, finals.read(bugs, SETTLED), keys)]
        return [*rows[: len(about)], *beside, *rows[len(about) :]]

    return by_range(study, read)


class Answers:
    """Reads what stands beside each other: of each bug the answers of one round."""

    def __init__(self, study: Study) -> None:
        self.names = Names(study)
        self.order = ["slot"] if Facet.objects.filter(codebook__study=study, is_many=True).exists() else []
        self.rounds = list(final_rounds(study))

    def read(self, bugs: Range) -> Batch:
        """Under the columns that are wanted of the table of answers, of the rounds that make final labels."""
        turns = bugs.of(Assignment.objects.filter(round__in=self.rounds))
        rows = bugs.of(Answer.objects.current().filter(round__in=self.rounds))
        names = {
            "bug": Looked("bug_id", {}),  # by key: what a bug is called is not asked here
            **self.names.rounds,
            **self.names.label(),
            **self.names.person(rater="rater_id"),
        }
        beside = lookup(turns, ANSWERS, {name: name for name in BESIDE}, by="assignment_id")
        return of_chosen_round(select(rows.order_by(*self.order), SAID, {**names, **beside}))


SAID = tuple(
    column
    for column in ANSWERS
    if column.name in ("bug", "round", "round_number", "rater", "facet", "category", *BESIDE)
)
SETTLED = tuple(column for column in FINALS if column.name in ("bug", "facet", "slot", "category", "source"))


def of_chosen_round(answers: Batch) -> Batch:
    """Of each bug the latest round that several raters answered, else the latest."""
    if len(set(answers[place(SAID, "round_number")].codes)) < 2:  # nothing to choose
        return answers
    rounds, raters = (answers[place(SAID, name)].values() for name in ("round_number", "rater"))
    bugs = answers[place(SAID, "bug")].codes
    found: dict[Any, dict[Any, set[Value]]] = defaultdict(lambda: defaultdict(set))
    for bug, round_, rater in zip(bugs, rounds, raters, strict=True):
        found[bug][round_].add(rater)
    chosen = {bug: max(several(of_bug) or of_bug) for bug, of_bug in found.items()}
    return taken(
        answers, [at for at, (bug, round_) in enumerate(zip(bugs, rounds, strict=True)) if chosen[bug] == round_]
    )


def several(raters: Mapping[Any, set[Value]]) -> list[Any]:
    return [round_ for round_, names in raters.items() if len(names) > 1]


def cells_of(layout: Layout, answers: Batch, keys: list[Any]) -> Batch:
    """The round, and each rater's cells."""
    said = named(SAID, answers)
    bugs, raters = said["bug"].codes, said["rater"].values()
    given = Pivot(zip(raters, said["facet"].values(), strict=True), bugs, said["category"], layout.separator)
    turns = Pivot(raters, bugs, said[BESIDE[0]], None)
    out = [Pivot(repeat(None, len(bugs)), bugs, said["round"], None).cells(None, keys)]
    for rater in layout.raters:
        out += [given.cells((rater, facet), keys) for facet in layout.facets]
        of_rater = turns.cells(rater, keys)
        out += [replace(of_rater, says=with_missing(said[name])) for name in BESIDE]
    return out


def labels_of(layout: Layout, finals: Batch, keys: list[Any]) -> Batch:
    """The final labels with their sources."""
    said = named(SETTLED, finals)
    bugs, facets = said["bug"].codes, said["facet"].values()
    labels = Pivot(facets, bugs, said["category"], layout.separator)
    sources = Pivot(facets, bugs, said["source"], None)
    return [of.cells(facet, keys) for facet in layout.facets for of in (labels, sources)]


def named(columns: tuple[Column, ...], batch: Batch) -> dict[str, Cells]:
    some = batch or [constant("", 0) for _ in columns]
    return {column.name: cells for column, cells in zip(columns, some, strict=True)}


class Pivot:
    """For each of the `by` what its bugs have: of several all, with the separator between, or without one the first."""

    def __init__(self, by: Iterable[Any], bugs: list[Any], cells: Cells, separator: str | None) -> None:
        keys = list(zip(by, bugs, strict=True))
        self.says = with_missing(cells)
        self.found = dict(zip(reversed(keys), reversed(cells.codes), strict=True))
        if separator is not None and len(self.found) < len(keys):
            self.join(keys, cells.codes, separator)

    def join(self, keys: list[Any], codes: list[Any], separator: str) -> None:
        self.found = {}
        for key, code in zip(keys, codes, strict=True):
            before = self.found.get(key, MISSING)
            self.found[key] = code if before is MISSING else self.both(before, code, separator)

    def both(self, code: Any, other: Any, separator: str) -> str:
        joined = f"{code}{separator}{other}"
        self.says[joined] = f"{self.says[code]}{separator}{self.says[other]}"
        return joined

    def cells(self, key: Any, bugs: list[Any]) -> Cells:
        return Cells(list(map(self.found.get, zip(repeat(key), bugs), repeat(MISSING))), self.says)


def with_missing(cells: Cells) -> dict[Any, Value]:
    return {**cells.says, MISSING: ""}


# --- the mapping back


def mapping(study: Study, *, hide: Hide | None = None) -> str:
    """What `import_sheet` reads this table with, cell for cell."""
    return yaml.safe_dump(
        mapping_document(study, layout_of(study, hide)), sort_keys=False, allow_unicode=True, width=1000
    )


def mapping_document(study: Study, layout: Layout) -> dict[str, Any]:
    raters = {
        shown: {what: f"{shown}: {what}" for what in (*layout.facets, *BESIDE)} for shown in layout.raters.values()
    }
    document: dict[str, Any] = {"row": "bug", "round": {"column": "round"}, "blind": blindness(study), "header_rows": 1}
    document |= {"item": item_columns(study)}
    document |= {"raters": raters} if raters else {}
    document |= {"final": {facet: f"final {facet}" for facet in layout.facets}}
    document |= {"context": {name: f"{CONTEXT}{name}" for name in layout.contexts}} if layout.contexts else {}
    clean: dict[str, Any] = {"trim": False, "fold_case": False, "blank": [""], "unknown": "add"}
    clean |= {"split": {facet: re.escape(layout.separator) for facet in layout.many}} if layout.many else {}
    return document | {"clean": clean}


def item_columns(study: Study) -> dict[str, str]:
    """The columns that say which item a row is about: those in use."""
    items = Item.objects.filter(pk__in=Bug.objects.filter(study=study).values("item"))
    in_use = {
        "repository": items.exclude(repository=None),
        "number": items.exclude(number=None),
        "url": items.exclude(url=""),
        "key": items.exclude(key=""),
        "title": items.exclude(title=""),
    }
    kinds = sorted(items.order_by().values_list("kind", flat=True).distinct())
    columns = {name: name for name, having in in_use.items() if having.exists()}
    return {"kind": kinds[0] if len(kinds) == 1 else Item.Kind.PULL_REQUEST.value} | columns | {"ordinal": "ordinal"}


def blindness(study: Study) -> str:
    """What the mapping's owner may declare: yes only where each round's blindness was enforced or declared."""
    kinds = set(final_rounds(study).values_list("blindness", flat=True))
    if not kinds or Round.Blindness.UNKNOWN in kinds:
        return "unknown"
    return "no" if Round.Blindness.NO in kinds else "yes"
