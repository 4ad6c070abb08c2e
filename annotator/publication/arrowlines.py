"""A batch in Arrow's memory, to be written in all formats at once by a thread that leaves the others alone.

Apart, since pyarrow costs every process that imports it.
"""

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotator.publication.columns import Batch, Column
from annotator.publication.formats import Writes
from annotator.publication.parquet import array_of, schema_of
from annotator.publication.segments import Coded, Places, Segment, bytes_of, lines_of, segments_of


class Indexed:
    """For each column the values that its rows have, each once, and the place of each row's value among them."""

    def __init__(self, batch: Batch, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.values: list[list[Any]] = []
        self.places: list[Places] = []
        indexed: dict[int, tuple[list[Any], Places]] = {}
        for cells in batch:
            if id(cells.codes) not in indexed:
                indexed[id(cells.codes)] = encoded(cells.codes)
            codes, places = indexed[id(cells.codes)]
            values, of_codes = encoded(list(map(cells.says.__getitem__, codes)))
            self.values.append(values)
            self.places.append(of_codes[places])

    def record_batch(self) -> pa.RecordBatch:
        schema = schema_of(self.columns)
        columns = zip(self.values, self.places, schema, strict=True)
        arrays = [array_of(values, field.type).take(pa.array(places)) for values, places, field in columns]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    @cached_property
    def segments(self) -> list[Segment]:
        return segments_of(list(map(Coded, map(len, self.values), self.places)))

    def lines(self, write: Writes, *, begin: str = "", end: str) -> memoryview:
        """The bytes that `formats.lines` makes of these rows."""
        cells = zip(self.values, self.columns, strict=True)
        texts = [pa.array(map(write(column), values), pa.string()) for values, column in cells]
        texts[0] = pc.binary_join_element_wise(begin, texts[0], "") if begin else texts[0]
        return bytes_of(lines_of(self.segments, texts, end))


def encoded(values: list[Any]) -> tuple[list[Any], Places]:
    """Each value once, in the order met, and where each stands there."""
    try:
        found = pa.array(values).dictionary_encode(null_encoding="encode")
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # of several kinds, or too large: by their own equality
        known = {value: place for place, value in enumerate(dict.fromkeys(values))}
        return list(known), np.fromiter(map(known.__getitem__, values), np.int64, len(values))
    return found.dictionary.to_pylist(), np.asarray(found.indices).astype(np.int64)
