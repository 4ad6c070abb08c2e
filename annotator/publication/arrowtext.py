"""CSV and JSON lines of what Parquet holds, the same bytes as `formats` writes.

Apart, since pyarrow costs every process that imports it.
"""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotator.publication.columns import NUMBER, TEXT, TIME, Column
from annotator.publication.formats import LINE_END, LINE_ENDS
from annotator.publication.segments import Coded, bytes_of, lines_of, segments_of

TO_QUOTE = '[",\r\n]'
TO_ESCAPE = '[\\x00-\\x1f"\\\\\u0085\u2028\u2029]'


class Read:
    """Rows as Parquet gives them. What repeats is written once."""

    def __init__(self, batch: pa.RecordBatch, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.encoded = [_encoded(values) for values in batch.columns]
        coded = [Coded(len(each.dictionary), np.asarray(each.indices).astype(np.int64)) for each in self.encoded]
        self.segments = segments_of(coded)

    def csv(self) -> memoryview:
        """RFC 4180, without the header."""
        return bytes_of(lines_of(self.segments, list(map(_csv_cells, self.values, self.columns)), "\r\n"))

    def jsonl(self) -> memoryview:
        cells = []
        for place, (values, column) in enumerate(zip(self.values, self.columns, strict=True)):
            name = f"{'' if place else '{'}{json.dumps(column.name, ensure_ascii=False)}:"
            cells.append(pc.binary_join_element_wise(name, _json_cells(values, column), ""))
        return bytes_of(lines_of(self.segments, cells, "}\n"))

    @property
    def values(self) -> list[pa.Array]:
        return [each.dictionary for each in self.encoded]


def _encoded(values: pa.Array) -> pa.DictionaryArray:
    """Nothing has a code too: a text is never null."""
    return values if pa.types.is_dictionary(values.type) else values.dictionary_encode(null_encoding="encode")


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
