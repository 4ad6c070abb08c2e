"""Lines put together from columns of codes: neighbours of which few combinations occur are put into text once for each.

Apart, since numpy and pyarrow cost every process that imports them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Places = npt.NDArray[np.int64]
FEW = 2  # rows to a combination, at least, where it is worth while


@dataclass(frozen=True)
class Coded:
    """A column: how many codes there are, and each row's."""

    codes: int
    places: Places


@dataclass(frozen=True)
class Segment:
    """Neighbouring columns: for each combination that occurs the code in each column, and each row's combination."""

    columns: list[Places]
    combinations: int
    places: Places

    def with_column(self, column: Coded) -> "Segment | None":
        """None where too many combinations would occur."""
        both = pa.array(self.places * column.codes + column.places).dictionary_encode()
        found = np.asarray(both.dictionary)
        if len(found) * FEW > len(self.places):
            return None
        before, code = np.divmod(found, column.codes)
        taken = [each[before] for each in self.columns]
        return Segment([*taken, code], len(found), np.asarray(both.indices).astype(np.int64))


def segments_of(columns: Sequence[Coded]) -> list[Segment]:
    """All columns, in their order."""
    found: list[Segment] = []
    for column in columns:
        if found and (wider := found[-1].with_column(column)):
            found[-1] = wider
        else:
            found.append(Segment([np.arange(column.codes)], column.codes, column.places))
    return found


def lines_of(segments: Sequence[Segment], texts: Sequence[pa.Array], end: str) -> pa.Array:
    """A line for each row. `texts` has for each column what its codes are in text."""
    left, pieces = iter(texts), []
    for segment in segments:
        cells = [next(left).take(pa.array(codes)) for codes in segment.columns]
        pieces.append(_joined(cells, end if segment is segments[-1] else "").take(pa.array(segment.places)))
    return _joined(pieces, "")


def _joined(cells: list[pa.Array], end: str) -> pa.Array:
    if end:
        cells = [*cells[:-1], pc.binary_join_element_wise(cells[-1], end, "")]
    return pc.binary_join_element_wise(*cells, ",") if len(cells) > 1 else cells[0]


def bytes_of(lines: pa.Array) -> memoryview:
    """All lines one after the other: they lie so in memory."""
    _, offsets, data = lines.buffers()
    if data is None or not len(lines):
        return memoryview(b"")
    places = memoryview(offsets).cast("i")
    return memoryview(data)[places[lines.offset] : places[lines.offset + len(lines)]]
