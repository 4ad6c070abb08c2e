"""Tables as files, under names that every file system takes."""

import csv
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse

from annotator.analysis.asked import Asked
from annotator.analysis.formats import FORMATS
from annotator.analysis.sheets import Sheet
from annotator.studies.models import Study
from annotator.web.spreadsheets import safe_row


def attached(response: HttpResponse, name: str, ending: str) -> HttpResponse:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
    response.headers["Content-Disposition"] = f'attachment; filename="{plain}.{ending}"'
    return response


def written(study: Study, asked: Asked, sheet: Sheet, format_: str) -> HttpResponse:
    _, type_, write = FORMATS[format_]
    name = "-".join(filter(None, (study.slug, asked.labels, asked.kind, asked.by, asked.across)))
    return attached(HttpResponse(write(sheet, asked), content_type=type_), name, format_)


def as_lines(read: dict[str, Any], *, name: str, across: bool) -> HttpResponse:
    response = attached(HttpResponse(content_type="text/csv; charset=utf-8"), name, "csv")
    csv.writer(response).writerows(map(safe_row, lines(read, across=across)))
    return response


def lines(read: dict[str, Any], *, across: bool) -> Iterator[list[Any]]:
    if not across:
        yield ["facet", "category", "bugs", "with_narrower"]
        for facet, counts in read["facets"].items():
            totals = read["rollup"][facet]
            for category in {**counts, **totals}:
                yield [facet, category, counts.get(category, 0), totals.get(category, "")]
        return
    for title, rows in read["crosstabs"].items():
        yield [*title.split(" × "), "bugs"]
        for a, row in rows.items():
            yield from ([a, b, n] for b, n in row.items())
