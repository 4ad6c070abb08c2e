"""What a release writes batch by batch is, byte for byte, what an export writes row by row."""

import datetime as dt
import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from annotator.publication import arrowtext
from annotator.publication.columns import NUMBER, TEXT, TIME, WHOLE, YES_NO, Column, Table
from annotator.publication.formats import csv_pieces, jsonl_pieces

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
TIMES = some.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1), timezones=some.just(dt.UTC))
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


def written(rows):
    batch = arrowtext.batch_of(rows, COLUMNS)
    return bytes(arrowtext.csv_of(batch, COLUMNS)), bytes(arrowtext.jsonl_of(batch, COLUMNS))


def row_by_row(rows):
    table = Table("any", COLUMNS, [rows])
    header = b"".join(csv_pieces(Table("any", COLUMNS, [])))
    return b"".join(csv_pieces(table)).removeprefix(header), b"".join(jsonl_pieces(table))


@given(ROWS)
def test_a_batch_is_written_as_its_rows_are(rows):
    assert written(rows) == row_by_row(rows)


def test_what_repeats_is_written_as_each_row_is():
    at = dt.datetime(2026, 4, 12, 10, 42, tzinfo=dt.UTC)
    rows = [(place % 3, 'a "b"', at if place % 2 else None, None, 0.5, "a,b\n") for place in range(1000)]
    assert written(rows) == row_by_row(rows)


def test_no_rows_give_no_bytes():
    assert written([]) == (b"", b"")


def test_a_slice_of_a_batch_gives_its_own_lines():
    batch = arrowtext.batch_of([(place, "x", None, True, None, "y") for place in range(10)], COLUMNS).slice(4, 2)
    assert [json.loads(line)["bug"] for line in bytes(arrowtext.jsonl_of(batch, COLUMNS)).splitlines()] == [4, 5]
    assert isinstance(batch, pa.RecordBatch)
