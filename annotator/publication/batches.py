"""Reading by key ranges of bugs, without model instances."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db import connection
from django.db.models import Max, QuerySet

from annotator.publication.columns import TEXT, YES_NO, Column, Row
from annotator.sampling.models import Bug
from annotator.studies.models import Study

BUGS_AT_ONCE = 2000
Range = tuple[int, int]  # bug numbers, both ends included
Converters = Mapping[str, Callable[[Any], Any]]  # column's name to what makes its value


def ranges(study: Study) -> Iterator[Range]:
    last = Bug.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
    for first in range(1, last + 1, BUGS_AT_ONCE):
        yield first, min(first + BUGS_AT_ONCE - 1, last)


def by_range(study: Study, read: Callable[[Range], list[Row]]) -> Iterator[list[Row]]:
    for bugs in ranges(study):
        if rows := read(bugs):
            yield rows


def select(
    rows: QuerySet[Any],
    columns: tuple[Column, ...],
    paths: Mapping[str, str],
    converters: Converters | None = None,
) -> list[Row]:
    """A row for each of the query's, under these columns; `paths` says where a column's value is.

    A column without a path is empty. Read straight from the cursor, in half the time of the ORM's own rows.
    """
    found = [column for column in columns if column.name in paths]
    sql, params = rows.values_list(*(paths[column.name] for column in found)).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        given = cursor.fetchall()
    values = {column.name: list(cells) for column, cells in zip(found, zip(*given, strict=True), strict=False)}
    for column in found:
        values[column.name] = converted(values.get(column.name, []), column, converters or {})
    blank = {column.name: [None if column.kind != TEXT else ""] * len(given) for column in columns}
    return list(zip(*(values.get(column.name, blank[column.name]) for column in columns), strict=True))


def converted(cells: list[Any], column: Column, converters: Converters) -> list[Any]:
    """A whole column at once: what has a converter goes through it, text is never null."""
    if convert := converters.get(column.name):
        cells = [convert(cell) for cell in cells]
    if column.kind == TEXT and None in cells:
        cells = ["" if cell is None else cell for cell in cells]
    return [bool(cell) for cell in cells] if column.kind == YES_NO else cells
