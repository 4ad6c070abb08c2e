"""Reading by key ranges of bugs, column by column, without model instances.

A query reads keys and what differs from row to row; names are looked up by their keys.
"""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Func, Max, Model, QuerySet, TextField
from django.db.models.functions import Cast

from annotator.publication.columns import NUMBER, TEXT, TIME, WHOLE, YES_NO, Batch, Cells, Column, Value
from annotator.sampling.models import Bug
from annotator.studies.models import Study

BUGS_AT_ONCE, TEXTS_AT_ONCE = 5000, 1000
CLOSE = 2  # items to a bug, at most, where all between the first and the last are read
OfBug = TypeVar("OfBug", bound=Model)
OfItem = TypeVar("OfItem", bound=Model)
Converters = Mapping[str, Callable[[Any], Value]]  # column's name to what makes its value


@dataclass(frozen=True)
class Range:
    """Some bugs of a study, by number; `keys` are theirs, in that order, and `items` those of their items."""

    study: Study
    first: int
    last: int
    keys: list[int]
    items: list[int]

    @cached_property
    def is_in_a_row(self) -> bool:
        """The keys run as the numbers do, and none is between them: rows are then found and sorted by them alone."""
        return self.keys == list(range(self.keys[0], self.keys[0] + len(self.keys)))

    @property
    def order(self) -> str:
        """What rows that have a bug are sorted by to be sorted by its number."""
        return "bug_id" if self.is_in_a_row else "bug__number"

    def of(self, rows: QuerySet[OfBug]) -> QuerySet[OfBug]:
        """Rows that have a bug: those of bugs in the range."""
        near = self.near(rows)
        if self.is_in_a_row:
            return near
        return near.filter(bug__study=self.study, bug__number__gte=self.first, bug__number__lte=self.last)

    def near(self, rows: QuerySet[OfBug]) -> QuerySet[OfBug]:
        """Without a look at the bugs, and so perhaps with rows of others that lie between."""
        return rows.filter(bug_id__gte=min(self.keys), bug_id__lte=max(self.keys))

    def bugs(self) -> QuerySet[Bug]:
        return Bug.objects.filter(study=self.study, number__gte=self.first, number__lte=self.last)

    def of_items(self, rows: QuerySet[OfItem], by: str = "item_id") -> QuerySet[OfItem]:
        """Rows of the bugs' items and, where these lie close, of those between: PostgreSQL would read all items to join."""
        first, last = min(self.items), max(self.items)
        near = rows.filter(**{f"{by}__gte": first, f"{by}__lte": last})
        return near if last - first < CLOSE * len(self.items) else near.filter(**{f"{by}__in": sorted(set(self.items))})


@dataclass(frozen=True)
class Looked:
    """Where a column's value is not in the query, but found by a key that is."""

    by: str
    says: Mapping[Any, Value]


Paths = Mapping[str, str | Looked]  # column's name to where its value is


def ranges(study: Study, at_once: int) -> Iterator[Range]:
    bugs = Bug.objects.filter(study=study)
    last = bugs.aggregate(last=Max("number"))["last"] or 0
    for first in range(1, last + 1, at_once):
        here = bugs.filter(number__gte=first, number__lt=first + at_once).order_by("number")
        if found := list(here.values_list("pk", "item_id")):
            keys, items = map(list, zip(*found, strict=True))
            yield Range(study, first, first + at_once - 1, keys, items)


def by_range(study: Study, read: Callable[[Range], Batch], *, holds_texts: bool = False) -> Iterator[Batch]:
    for bugs in ranges(study, TEXTS_AT_ONCE if holds_texts else BUGS_AT_ONCE):
        if length(batch := read(bugs)):
            yield batch


# --- a query


def select(
    rows: QuerySet[Any],
    columns: tuple[Column, ...],
    paths: Paths,
    converters: Converters | None = None,
    *,
    together: Collection[str] = (),
) -> Batch:
    """The query's rows under these columns. A column without a path is empty.

    What is read at `together`, keys and short words, comes in few combinations: where the database gives text, each is
    taken apart once.
    """
    keys = {column.name: _key(column, path) for column in columns if (path := paths.get(column.name)) is not None}
    found = _read_keys(rows, list(dict.fromkeys(keys.values())), together)
    length = len(next(iter(found.values())).codes) if found else 0
    return [
        _cells(column, found[keys[column.name]], paths[column.name], (converters or {}).get(column.name))
        if column.name in keys
        else constant(blank(column), length)
        for column in columns
    ]


Key = tuple[str, bool]  # where to read, and whether as a time


@dataclass(frozen=True)
class Read:
    """What stands at a key: each row's code, and for each code the cell where it is only a part of the code."""

    codes: list[Any]
    cells: Mapping[Any, Any] | None = None


def _key(column: Column, path: str | Looked) -> Key:
    return (path.by, False) if isinstance(path, Looked) else (path, column.kind == TIME)


def _read_keys(rows: QuerySet[Any], keys: list[Key], together: Collection[str]) -> dict[Key, Read]:
    joined = [key for key in keys if key[0] in together] if connection.vendor == "postgresql" else []
    apart = [key for key in keys if key not in joined]
    columns = read(rows, [*(_expression(*key) for key in apart), *([_record(joined)] if joined else [])])
    found = {key: Read(codes) for key, codes in zip(apart, columns, strict=False)}
    records = {text: _fields(text) for text in set(columns[-1])} if joined else {}
    for place, key in enumerate(joined):
        found[key] = Read(columns[-1], {text: fields[place] for text, fields in records.items()})
    return found


def _record(keys: list[Key]) -> Cast:
    """Several cells as PostgreSQL's text of one record."""
    return Cast(Func(*(path for path, _ in keys), function="ROW", output_field=TextField()), TextField())


def _fields(record: str) -> list[str]:
    return next(csv.reader([record[1:-1]], escapechar="\\", strict=True))


def _expression(path: str, is_time: bool) -> Any:
    """Times as text: a driver's own reading of them costs more than all the rest of a row."""
    return Cast(path, TextField()) if is_time else path


def _cells(column: Column, found: Read, path: str | Looked, convert: Callable[[Any], Value] | None) -> Cells:
    if isinstance(path, Looked) and found.cells is None:
        return Cells(found.codes, path.says)
    means = path.says.__getitem__ if isinstance(path, Looked) else convert or MEANINGS[column.kind]
    held = ((code, code) for code in set(found.codes)) if found.cells is None else found.cells.items()
    return Cells(found.codes, {code: means(cell) for code, cell in held})


def lookup(
    rows: QuerySet[Any], among: tuple[Column, ...], paths: Paths, *, by: str, converters: Converters | None = None
) -> dict[str, Looked]:
    """For each of the columns with a path: look in these rows by their primary key, which is at `by`. No key, no value."""
    columns = tuple(column for column in among if column.name in paths)
    keys, *found = select(rows, (Column("pk", TEXT, ""), *columns), {"pk": "pk", **paths}, converters)
    return {
        column.name: Looked(
            by, dict.fromkeys((None, ""), blank(column)) | dict(zip(keys.codes, cells.values(), strict=True))
        )
        for column, cells in zip(columns, found, strict=True)
    }


def constant(value: Value, length: int) -> Cells:
    return Cells([value] * length, {value: value})


def plain(values: list[Any]) -> Cells:
    return Cells(values, {value: value for value in set(values)})


def blank(column: Column) -> Value:
    return "" if column.kind == TEXT else None


# --- as the databases give it


def read(rows: QuerySet[Any], expressions: list[Any]) -> list[list[Any]]:
    """A list for each expression. PostgreSQL gives texts, with nothing as an empty one; SQLite its own types."""
    try:
        sql, params = rows.values_list(*expressions).query.sql_with_params()
    except EmptyResultSet:
        return [[] for _ in expressions]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            return _copied(cursor.cursor, sql, params, len(expressions))
        cursor.execute(sql, params)
        return [list(values) for values in zip(*cursor.fetchall(), strict=True)] or [[] for _ in expressions]


def _copied(cursor: Any, sql: str, params: Any, width: int) -> list[list[str]]:
    """By COPY, which hands over whole rows as text: a third of what a driver takes to make objects of each cell."""
    given = io.BytesIO()
    with connection.wrap_database_errors:
        cursor.copy_expert(f"COPY ({cursor.mogrify(sql, params).decode()}) TO STDOUT (FORMAT text, NULL '')", given)
    text = given.getvalue().decode()
    cells = text.replace("\n", "\t").split("\t")[:-1]
    columns = [cells[place::width] for place in range(width)]
    if "\\" in text:
        return [[_unescaped(cell) if "\\" in cell else cell for cell in column] for column in columns]
    return columns


ESCAPED = re.compile(r"\\(.)", re.DOTALL)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescaped(cell: str) -> str:
    return ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), cell)


NOTHING = (None, "")


def moment(at: Any) -> str | None:
    """With microseconds always, so that texts sort as times do. Both databases give UTC, PostgreSQL with its zone."""
    if at in NOTHING:
        return None
    seconds, _, fraction = at.removesuffix("+00").partition(".")
    return f"{seconds[:10]}T{seconds[11:]}.{fraction:0<6}Z"


MEANINGS: dict[str, Callable[[Any], Value]] = {
    TEXT: lambda cell: "" if cell is None else cell,
    WHOLE: lambda cell: None if cell in NOTHING else int(cell),
    NUMBER: lambda cell: None if cell in NOTHING else float(cell),
    YES_NO: lambda cell: cell not in (None, "", 0, "f"),
    TIME: moment,
}


# --- batches put together


def length(batch: Batch) -> int:
    return len(batch[0].codes) if batch else 0


def below(parts: Iterable[Batch]) -> Batch:
    """One batch's rows below the other's."""
    some = [part for part in parts if length(part)]
    if len(some) < 2:
        return some[0] if some else []
    joined: dict[tuple[int, ...], list[Any]] = {}
    return [_below(each, joined) for each in zip(*some, strict=True)]


def _below(each: tuple[Cells, ...], joined: dict[tuple[int, ...], list[Any]]) -> Cells:
    if any(cells.says is not each[0].says for cells in each):
        return plain([value for cells in each for value in cells.values()])
    key = tuple(id(cells.codes) for cells in each)
    if key not in joined:
        joined[key] = [code for cells in each for code in cells.codes]
    return Cells(joined[key], each[0].says)


def taken(batch: Batch, places: list[int]) -> Batch:
    """The batch's rows at these places, in this order."""
    moved: dict[int, list[Any]] = {}
    for cells in batch:
        if id(cells.codes) not in moved:
            moved[id(cells.codes)] = list(map(cells.codes.__getitem__, places))
    return [Cells(moved[id(cells.codes)], cells.says) for cells in batch]


def in_order(batch: Batch, by: list[int]) -> Batch:
    """The batch's rows in the order of what these columns say; among equals as they were."""
    if not batch:
        return batch
    keys = list(zip(*(batch[place].values() for place in by), strict=True))
    return taken(batch, sorted(range(len(keys)), key=keys.__getitem__))
