"""What a release writes batch by batch is, byte for byte, what an export writes row by row."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from annotator.publication import arrowtext
from annotator.publication.arrowlines import Indexed
from annotator.publication.columns import NUMBER, TEXT, TIME, WHOLE, YES_NO, Cells, Column, Table
from annotator.publication.formats import csv_cell, csv_pieces, json_cell, jsonl_pieces
from annotator.publication.parquet import array_of, schema_of
from annotator.publication.segments import Coded, lines_of, segments_of

COLUMNS = (
    Column("bug", WHOLE, ""),
    Column('a "name", odd', TEXT, ""),
    Column("at", TIME, ""),
    Column("is_assisted", YES_NO, ""),
    Column("seconds", NUMBER, ""),
    Column("last", TEXT, ""),
)
TEXTS = some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\x00")) | some.sampled_from(
    ["", '"', "a,b", "line\r\nend", "\u2028", "\x85", "\\", "=1+1", "´é漢🐛", "\x1f", "\x7f"]
)
TIMES = some.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1)).map(
    lambda at: f"{at.isoformat(timespec='microseconds')}Z"
)
ROWS = some.lists(
    some.tuples(
        some.none() | some.integers(-(2**63), 2**63 - 1),
        TEXTS,
        some.none() | TIMES,
        some.none() | some.booleans(),
        some.none() | some.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    min_size=1,
    max_size=8,
)


def batch_of(rows):
    """As Parquet gives it back."""
    schema = schema_of(COLUMNS)
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    arrays = [array_of(list(values), field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def cells_of(rows):
    return [Cells(list(range(len(rows))), dict(enumerate(values))) for values in zip(*rows, strict=True)]


def written(rows):
    read = arrowtext.Read(batch_of(rows), COLUMNS)
    return bytes(read.csv()), bytes(read.jsonl())


def at_once(rows):
    batch = Indexed(cells_of(rows), COLUMNS)
    return bytes(batch.lines(csv_cell, end="\r\n")), bytes(batch.lines(json_cell, begin="{", end="}\n"))


def row_by_row(rows):
    table = Table("any", COLUMNS, [cells_of(rows)] if rows else [])
    header = b"".join(csv_pieces(Table("any", COLUMNS, [])))
    return b"".join(csv_pieces(table)).removeprefix(header), b"".join(jsonl_pieces(table))


@given(ROWS)
def test_a_batch_is_written_as_its_rows_are(rows):
    assert at_once(rows) == written(rows) == row_by_row(rows)


def test_what_repeats_is_written_as_each_row_is():
    at = "2026-04-12T10:42:00.000000Z"
    rows = [(place % 3, 'a "b"', at if place % 2 else None, None, 0.5, "a,b\n") for place in range(1000)]
    assert at_once(rows) == written(rows) == row_by_row(rows)


def test_neighbours_are_put_together_while_few_combinations_occur():
    every = [
        Coded(3, np.arange(12) % 3),
        Coded(2, np.arange(12) % 2),
        Coded(12, np.arange(12)),
        Coded(1, np.arange(12) * 0),
    ]
    segments = segments_of(every)
    assert [(len(each.columns), each.combinations) for each in segments] == [(2, 6), (1, 12), (1, 1)]
    texts = [pa.array(list("abc")), pa.array(["x", "y"]), pa.array(map(str, range(12))), pa.array(["!"])]
    lines = lines_of(segments, texts, ";").to_pylist()
    assert lines == [f"{'abc'[row % 3]},{'xy'[row % 2]},{row},!;" for row in range(12)]


def test_no_rows_give_no_bytes():
    assert written([]) == (b"", b"")


def test_a_slice_of_a_batch_gives_its_own_lines():
    batch = batch_of([(place, "x", None, True, None, "y") for place in range(10)]).slice(4, 2)
    assert [json.loads(line)["bug"] for line in bytes(arrowtext.Read(batch, COLUMNS).jsonl()).splitlines()] == [4, 5]
    assert isinstance(batch, pa.RecordBatch)


def test_neighbours_of_one_key_are_written_together():
    codes = [2, 1, 2]
    batch = [Cells(codes, {1: 10, 2: 20}), Cells(codes, {1: 'a "b"', 2: ""}), Cells(["x"] * 3, {"x": None})]
    table = Table("any", COLUMNS[:3], [batch])
    made = Indexed(batch, COLUMNS[:3])
    assert list(csv_pieces(table))[1] == bytes(made.lines(csv_cell, end="\r\n"))
    assert b"".join(csv_pieces(table)).splitlines()[1:] == [b"20,,", b'10,"a ""b""",', b"20,,"]
    assert made.record_batch().to_pylist()[1] == {"bug": 10, 'a "name", odd': 'a "b"', "at": None}
