"""One row a bug: what each rater said beside the other, the final label and its source; and the mapping back."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from annotator.accounts.models import User
from annotator.adjudication.queries import FINAL_KINDS, final_rounds
from annotator.analysis.labels import verdict_is_plain
from annotator.codebook.models import Category, Facet
from annotator.collection.models import Item
from annotator.labeling.models import Answer, Round
from annotator.labeling.proposals import hidden_codes
from annotator.labeling.queries import BLIND_IS_OVER
from annotator.publication import queries
from annotator.publication.batches import Range, by_range, select
from annotator.publication.columns import ANSWERS, BUGS, CONTEXT, FINALS, SIDE_BY_SIDE, TEXT, Column, Row, Table, Value
from annotator.sampling.models import Bug
from annotator.studies.models import Study

NAME = "side_by_side"
BESIDE = ("confidence", "note")  # of a rater, after the facets
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


def batches(study: Study, layout: Layout) -> Iterator[list[Row]]:
    def read(bugs: Range) -> list[Row]:
        answers, finals = answers_by_bug(study, bugs), finals_by_bug(study, bugs)
        rows = queries.bug_rows(study, bugs, list(layout.contexts))
        return [(*about(row), *cells(layout, answers[row[0]], finals[row[0]]), *row[len(BUGS) :]) for row in rows]

    return by_range(study, read)


ABOUT = [place for place, column in enumerate(BUGS) if column in SIDE_BY_SIDE]


def about(row: Row) -> list[Value]:
    return [row[place] for place in ABOUT]


def cells(layout: Layout, answers: "list[Said]", finals: "list[Settled]") -> list[str]:
    """The round, each rater's cells, the final labels with their sources."""
    answers = of_chosen_round(answers)
    given: dict[tuple[str, str], list[str]] = defaultdict(list)
    for answer in answers:
        given[answer.rater, answer.facet].append(answer.category)
    beside = {answer.rater: (answer.confidence, answer.note) for answer in answers}
    out = [answers[0].round if answers else ""]
    for rater in layout.raters:
        out += [layout.separator.join(given.get((rater, facet), ())) for facet in layout.facets]
        out += beside.get(rater, ("", ""))
    for facet in layout.facets:
        labels = [label for label in finals if label.facet == facet]
        out.append(layout.separator.join(label.category for label in labels))
        out.append(labels[0].source if labels else "")
    return out


class Said(NamedTuple):
    """One answer, in the order of the columns of the table of answers."""

    bug: int
    round: str
    round_number: int
    rater: str
    facet: str
    category: str
    confidence: str
    note: str


class Settled(NamedTuple):
    """One final label, in the order of the columns of the table of final labels."""

    bug: int
    facet: str
    category: str
    source: str


def of_chosen_round(answers: list[Said]) -> list[Said]:
    """The latest round that several raters answered, else the latest."""
    raters: dict[int, set[str]] = defaultdict(set)
    for answer in answers:
        raters[answer.round_number].add(answer.rater)
    if len(raters) < 2:  # nothing to choose
        return answers
    double = [number for number, names in raters.items() if len(names) > 1]
    return [answer for answer in answers if answer.round_number == max(double or raters)]


def answers_by_bug(study: Study, bugs: Range) -> dict[Any, list[Said]]:
    rows = queries.in_range(counted(study), study, bugs).order_by("bug__number", "rater", "facet", "slot")
    wanted = tuple(column for column in ANSWERS if column.name in Said._fields)
    found: dict[Any, list[Said]] = defaultdict(list)
    for row in select(rows, wanted, queries.ANSWER):
        found[row[0]].append(Said._make(row))
    return found


def finals_by_bug(study: Study, bugs: Range) -> dict[Any, list[Settled]]:
    places = [place for place, column in enumerate(FINALS) if column.name in Settled._fields]
    found: dict[Any, list[Settled]] = defaultdict(list)
    for row in queries.final_rows(study, bugs):
        found[row[0]].append(Settled._make(row[place] for place in places))
    return found


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
