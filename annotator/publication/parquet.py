"""Parquet, a row group a batch. Apart, since pyarrow costs every process that imports it."""

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotator.publication.columns import NUMBER, TEXT, TIME, WHOLE, YES_NO, Column, Table

TYPES = {
    TEXT: pa.string(),
    WHOLE: pa.int64(),
    NUMBER: pa.float64(),
    YES_NO: pa.bool_(),
    TIME: pa.timestamp("us", tz="UTC"),
}


def schema_of(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema([pa.field(column.name, TYPES[column.kind], nullable=column.kind != TEXT) for column in columns])


class Drained(io.RawIOBase):
    """A file that is written to and read off: it holds one row group at most."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # pyarrow hands bytes
        self.written.append(bytes(data))
        self.position += len(data)
        return len(data)

    def tell(self) -> int:
        return self.position

    def drain(self) -> bytes:
        piece = b"".join(self.written)
        self.written.clear()
        return piece


def array_of(values: list[Any], type_: pa.DataType) -> pa.Array:
    return pa.array(values, pa.string()).cast(type_) if pa.types.is_timestamp(type_) else pa.array(values, type_)


def writer(sink: Any, columns: tuple[Column, ...]) -> pq.ParquetWriter:
    return pq.ParquetWriter(sink, schema_of(columns), compression="zstd")


def parquet_pieces(table: Table) -> Iterator[bytes]:
    from annotator.publication.arrowlines import Indexed

    sink = Drained()
    with writer(sink, table.columns) as file:
        for batch in table.batches:
            file.write_batch(Indexed(batch, table.columns).record_batch())
            yield sink.drain()
    yield sink.drain()
