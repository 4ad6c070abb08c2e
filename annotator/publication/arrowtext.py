"""CSV and JSON lines of what Parquet holds, the same bytes as `formats` writes.

Apart, since pyarrow costs every process that imports it.
"""

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from annotator.publication.arrowlines import bytes_of
from annotator.publication.columns import NUMBER, TEXT, TIME, YES_NO, Column
from annotator.publication.formats import LINE_END, LINE_ENDS

TO_QUOTE = '[",\r\n]'
TO_ESCAPE = '[\\x00-\\x1f"\\\\\u0085\u2028\u2029]'
FEW = 4  # values to a row fewer than one in so many: each is written once and looked up


def csv_of(batch: pa.RecordBatch, columns: tuple[Column, ...]) -> memoryview:
    """RFC 4180, without the header."""
    cells = [_looked_up(batch.column(place), column, _csv_cells) for place, column in enumerate(columns)]
    return bytes_of(pc.binary_join_element_wise(*_between(cells, "", ",", "\r\n"), ""))


def jsonl_of(batch: pa.RecordBatch, columns: tuple[Column, ...]) -> memoryview:
    cells = [_looked_up(batch.column(place), column, _json_cells) for place, column in enumerate(columns)]
    names = [f"{json.dumps(column.name, ensure_ascii=False)}:" for column in columns]
    pieces: list[Any] = []
    for place, (name, values) in enumerate(zip(names, cells, strict=True)):
        pieces += ["," + name if place else "{" + name, values]
    return bytes_of(pc.binary_join_element_wise(*pieces, "}\n", ""))


def _between(cells: list[pa.Array], before: str, between: str, after: str) -> list[Any]:
    pieces: list[Any] = [before]
    for place, values in enumerate(cells):
        pieces += [between, values] if place else [values]
    return [*pieces, after]


def _looked_up(values: pa.Array, column: Column, write: Any) -> pa.Array:
    """What repeats is written once."""
    if column.kind == YES_NO or len(values) < 100:
        return write(values, column)
    encoded = values.dictionary_encode(null_encoding="encode")
    if len(encoded.dictionary) * FEW > len(values):
        return write(values, column)
    return write(encoded.dictionary, column).take(encoded.indices)


def _csv_cells(values: pa.Array, column: Column) -> pa.Array:
    if column.kind != TEXT:
        return pc.fill_null(_plain(values, column), "")
    to_quote = pc.match_substring_regex(values, TO_QUOTE)
    if not pc.any(to_quote).as_py():
        return values
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(values, '"', '""'), '"', "")
    return pc.if_else(to_quote, quoted, values)


def _json_cells(values: pa.Array, column: Column) -> pa.Array:
    if column.kind == TIME:
        quoted = pc.binary_join_element_wise('"', _plain(values, column), '"', "")
        return pc.fill_null(quoted, "null")
    if column.kind != TEXT:
        return pc.fill_null(_plain(values, column), "null")
    to_escape = pc.match_substring_regex(values, TO_ESCAPE)
    quoted = pc.binary_join_element_wise('"', values, '"', "")
    if not pc.any(to_escape).as_py():
        return quoted
    escaped = [_json_text(text) for text in values.filter(to_escape).to_pylist()]
    return pc.replace_with_mask(quoted, to_escape, pa.array(escaped, pa.string()))


def _json_text(text: str) -> str:
    return LINE_END.sub(lambda found: LINE_ENDS[found[0]], json.dumps(text, ensure_ascii=False))


def _plain(values: pa.Array, column: Column) -> pa.Array:
    """Numbers, times, yes and no as text; null stays null."""
    if column.kind == TIME:
        written = values.cast(pa.timestamp("us")).cast(pa.string())
        return pc.binary_join_element_wise(pc.replace_substring(written, " ", "T"), "Z", "")
    if column.kind == NUMBER:
        return pa.array([None if value is None else repr(value) for value in values.to_pylist()], pa.string())
    return values.cast(pa.string())
