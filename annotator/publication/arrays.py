"""Columns of a written table as numbers, a row group at a time: to look over millions of rows without an object for each.

Read from Parquet, which holds what the CSV holds: `rewritten` proves it before each release. Apart, since numpy and pyarrow
cost every process that imports them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from annotator.publication.formats import PARQUET
from annotator.publication.writing import Written

Array = npt.NDArray[Any]


class Arrays:
    """Whole numbers as they are, a text as its place among the distinct ones of its column, in `words`."""

    def __init__(self, written: Written, table: str, *columns: str) -> None:
        self.path = next(
            (written.folder / t.files[PARQUET].path for t in written.tables if t.table.name == table), None
        )
        self.columns = columns
        self.words: dict[str, dict[str, int]] = {name: {} for name in columns}

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        """Nothing where the table has no rows, and so no file."""
        if self.path is None:
            return
        with pq.ParquetFile(self.path, read_dictionary=list(self.columns)) as file:
            for batch in file.iter_batches(columns=list(self.columns)):
                yield tuple(self.numbers(name, batch.column(name)) for name in self.columns)

    def numbers(self, name: str, values: pa.Array) -> Array:
        if not pa.types.is_dictionary(values.type):
            return np.asarray(values)
        words = self.words[name]
        places = [words.setdefault(word, len(words)) for word in values.dictionary.to_pylist()]
        return np.take(np.array(places, dtype=np.int64), np.asarray(values.indices))

    def texts(self, name: str) -> list[str]:
        return list(self.words[name])


def is_as_before(keys: Array, last: Array) -> Array:
    """Which of the keys, a column each, equal the one before; `last` stands before the first."""
    return np.asarray((keys == np.concatenate([last, keys[:, :-1]], axis=1)).all(axis=0))
