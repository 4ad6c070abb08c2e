"""The same rows as CSV, JSONL or Parquet, piece by piece."""

import csv
import datetime as dt
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from annotator.publication.columns import TEXT, TIME, YES_NO, Column, Row, Table
from annotator.web.spreadsheets import safe

CSV, JSONL, PARQUET = "csv", "jsonl", "parquet"
TYPES = {
    CSV: "text/csv; charset=utf-8",
    JSONL: "application/jsonl; charset=utf-8",
    PARQUET: "application/vnd.apache.parquet",
}
LINE_ENDS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}  # some readers break lines there
LINE_END = re.compile("[\u2028\u2029\x85]")
FLAGS = {True: "true", False: "false", None: ""}
BOM = "\ufeff"


def moment(at: dt.datetime) -> str:
    """With microseconds always, so that texts sort as times do. The database gives UTC, with or without the zone."""
    return f"{at.isoformat(timespec='microseconds')[:26]}Z"


def as_text(batch: list[Row], columns: tuple[Column, ...]) -> list[list[Any]]:
    """The batch column by column, as CSV and JSONL hold it: times as text."""
    cells = [list(values) for values in zip(*batch, strict=True)]
    for place, column in enumerate(columns):
        if column.kind == TIME:
            cells[place] = [None if at is None else moment(at) for at in cells[place]]
    return cells


def csv_pieces(table: Table, *, is_safe: bool = False) -> Iterator[bytes]:
    """RFC 4180; yes and no as true and false. Safe: cells that a spreadsheet would run begin with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    if is_safe:
        text.write(BOM)  # or Excel takes it for another encoding
    writer.writerow([safe(column.name) if is_safe else column.name for column in table.columns])
    for batch in table.batches:
        cells = as_text(batch, table.columns)
        for place, column in enumerate(table.columns):
            if column.kind == YES_NO:
                cells[place] = [FLAGS[value] for value in cells[place]]
            if column.kind == TEXT and is_safe:
                cells[place] = [safe(value) for value in cells[place]]
        writer.writerows(zip(*cells, strict=True))
        yield taken(text)
    yield taken(text)


def taken(text: io.StringIO) -> bytes:
    piece = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return piece


def jsonl_pieces(table: Table) -> Iterator[bytes]:
    """One object a line, null where a number or time is missing."""
    names = [column.name for column in table.columns]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    for batch in table.batches:
        rows = zip(*as_text(batch, table.columns), strict=True)
        lines = "".join(f"{encode(dict(zip(names, row, strict=True)))}\n" for row in rows)
        yield LINE_END.sub(lambda found: LINE_ENDS[found[0]], lines).encode()


def pieces(table: Table, format_: str, *, is_safe: bool = False) -> Iterator[bytes]:
    if format_ == CSV:
        return csv_pieces(table, is_safe=is_safe)
    if format_ == JSONL:
        return jsonl_pieces(table)
    from annotator.publication.parquet import parquet_pieces  # 60 MB that most processes never need

    return parquet_pieces(table)
