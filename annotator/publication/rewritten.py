"""The tables of a release, read back from Parquet and written again as text: they must come out as they were."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from annotator.publication.columns import Table
from annotator.publication.formats import CSV, JSONL, PARQUET, csv_pieces
from annotator.publication.writing import TableFiles, Written

AT_ONCE = 2  # files; pyarrow and hashlib compute beside each other
ROWS_AT_ONCE = 8192


def differing(written: Written) -> list[str]:
    """Paths of the files of which another came out."""
    import pyarrow.parquet as pq

    texts = [(each, name) for each in written.tables for name in (CSV, JSONL)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        digests = pool.map(lambda text: digest_of(text[0], text[1], written.folder), texts)
        wrong = [
            each.files[name].path
            for (each, name), digest in zip(texts, digests, strict=True)
            if digest != each.files[name].sha256
        ]
    parquet = [(each.rows, each.files[PARQUET].path) for each in written.tables]
    return wrong + [path for rows, path in parquet if pq.read_metadata(written.folder / path).num_rows != rows]


def digest_of(each: TableFiles, name: str, folder: Path) -> str:
    """Of the CSV or the JSON lines that the Parquet file gives."""
    import pyarrow.parquet as pq

    from annotator.publication.arrowtext import csv_of, jsonl_of

    columns = each.table.columns
    digest = hashlib.sha256(b"".join(csv_pieces(Table(each.table.name, columns, []))) if name == CSV else b"")
    with pq.ParquetFile(folder / each.files[PARQUET].path) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE):
            digest.update(csv_of(batch, columns) if name == CSV else jsonl_of(batch, columns))
    return digest.hexdigest()
