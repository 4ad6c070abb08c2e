"""Parquet, a row group a batch. Apart, since pyarrow costs every process that imports it."""

import io
from collections.abc import Iterator

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


def parquet_pieces(table: Table) -> Iterator[bytes]:
    schema, sink = schema_of(table.columns), Drained()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in table.batches:
            arrays = [
                pa.array(values, type=field.type)
                for values, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield sink.drain()
    yield sink.drain()
