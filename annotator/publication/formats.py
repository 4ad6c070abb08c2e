"""The same rows as CSV, JSONL or Parquet, piece by piece."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from annotator.publication.columns import TEXT, YES_NO, Batch, Cells, Column, Table
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


Writes = Callable[[Column], Callable[[Any], str]]
TO_QUOTE = re.compile('[",\r\n]')


def lines(batch: Batch, columns: tuple[Column, ...], write: Writes) -> Iterator[str]:
    """The rows' cells with a comma between, each made once for all rows that have it."""
    pieces = []
    for several in groups(batch, columns):
        first = several[0][0]
        codes = list(first.used())
        texts = zip(*(in_text(cells, codes, write(column)) for cells, column in several), strict=True)
        made = dict(zip(codes, map(",".join, texts), strict=True))
        pieces.append(map(made.__getitem__, first.codes))
    return map(",".join, zip(*pieces, strict=True))


def groups(batch: Batch, columns: tuple[Column, ...]) -> Iterator[list[tuple[Cells, Column]]]:
    """Neighbours that say different things of one key: their text is made all at once."""
    for _, group in groupby(zip(batch, columns, strict=True), key=lambda each: id(each[0].codes)):
        yield list(group)


def in_text(cells: Cells, codes: list[Any], to_text: Callable[[Any], str]) -> Iterator[str]:
    says = list(map(cells.says.__getitem__, codes))
    made = {value: to_text(value) for value in set(says)}
    return map(made.__getitem__, says)


def csv_cell(column: Column) -> Callable[[Any], str]:
    if column.kind == TEXT:
        return quoted
    if column.kind == YES_NO:
        return FLAGS.__getitem__
    return lambda value: "" if value is None else str(value)


def csv_pieces(table: Table, *, is_safe: bool = False) -> Iterator[bytes]:
    """RFC 4180; yes and no as true and false. Safe: cells that a spreadsheet would run begin with an apostrophe."""
    names = [quoted(safe(column.name) if is_safe else column.name) for column in table.columns]
    yield f"{BOM if is_safe else ''}{','.join(names)}\r\n".encode()  # without a mark Excel takes another encoding
    for batch in table.batches:
        yield "\r\n".join([*lines(batch, table.columns, safe_cell if is_safe else csv_cell), ""]).encode()


def safe_cell(column: Column) -> Callable[[Any], str]:
    return (lambda text: quoted(safe(text))) if column.kind == TEXT else csv_cell(column)


def quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""')) if TO_QUOTE.search(text) else text


def jsonl_pieces(table: Table) -> Iterator[bytes]:
    """One object a line, null where a number or time is missing."""
    for batch in table.batches:
        yield "".join([f"{{{line}}}\n" for line in lines(batch, table.columns, json_cell)]).encode()


def json_cell(column: Column) -> Callable[[Any], str]:
    """The column's name with its value."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    name = encode(column.name)
    return lambda value: f"{name}:{one_line(encode(value))}"


def one_line(text: str) -> str:
    return LINE_END.sub(lambda found: LINE_ENDS[found[0]], text)


def pieces(table: Table, format_: str, *, is_safe: bool = False) -> Iterator[bytes]:
    if format_ == CSV:
        return csv_pieces(table, is_safe=is_safe)
    if format_ == JSONL:
        return jsonl_pieces(table)
    from annotator.publication.parquet import parquet_pieces  # 60 MB that most processes never need

    return parquet_pieces(table)
