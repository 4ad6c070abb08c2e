"""A batch in Arrow's memory, to be written in all formats at once by a thread that leaves the others alone.

Apart, since pyarrow costs every process that imports it.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from annotator.publication.columns import Batch, Cells, Column
from annotator.publication.formats import Writes, groups, in_text
from annotator.publication.parquet import array_of, schema_of


class Indexed:
    """For each list of codes those that rows have, each once, and the place of each row's code among them.

    In the order of the rows, so that the same rows are the same bytes.
    """

    def __init__(self, batch: Batch, columns: tuple[Column, ...]) -> None:
        self.batch, self.columns = batch, columns
        self.codes: dict[int, tuple[list[Any], pa.Array]] = {}
        for cells in batch:
            if id(cells.codes) not in self.codes:
                self.codes[id(cells.codes)] = indexed(cells)

    def record_batch(self) -> pa.RecordBatch:
        schema, arrays = schema_of(self.columns), []
        for cells, field in zip(self.batch, schema, strict=True):
            codes, places = self.codes[id(cells.codes)]
            arrays.append(array_of([cells.says[code] for code in codes], field.type).take(places))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def lines(self, write: Writes, *, begin: str = "", end: str) -> memoryview:
        """The bytes that `formats.lines` makes of these rows."""
        made = []
        for several in groups(self.batch, self.columns):
            codes, places = self.codes[id(several[0][0].codes)]
            texts = zip(*(in_text(cells, codes, write(column)) for cells, column in several), strict=True)
            made.append((list(map(",".join, texts)), places))
        made[0] = [f"{begin}{text}" for text in made[0][0]], made[0][1]
        made[-1] = [f"{text}{end}" for text in made[-1][0]], made[-1][1]
        pieces = [pa.array(texts, pa.string()).take(places) for texts, places in made]
        return bytes_of(pc.binary_join_element_wise(*pieces, ",") if len(pieces) > 1 else pieces[0])


def indexed(cells: Cells) -> tuple[list[Any], pa.Array]:
    codes = list(dict.fromkeys(cells.codes))
    places = {code: place for place, code in enumerate(codes)}
    return codes, pa.array(list(map(places.__getitem__, cells.codes)), pa.int32())


def bytes_of(lines: pa.Array) -> memoryview:
    """All lines one after the other: they lie so in memory."""
    _, offsets, data = lines.buffers()
    if data is None or not len(lines):
        return memoryview(b"")
    places = memoryview(offsets).cast("i")
    return memoryview(data)[places[lines.offset] : places[lines.offset + len(lines)]]
