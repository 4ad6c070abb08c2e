"""The tables of a release, read back from Parquet and written again as text: they must come out as they were."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from annotator.publication.columns import TEXT, Table
from annotator.publication.formats import CSV, JSONL, PARQUET, csv_pieces
from annotator.publication.writing import TableFiles, Written

AT_ONCE = 2  # tables; pyarrow and hashlib compute beside each other
ROWS_AT_ONCE = 16_384


def differing(written: Written) -> list[str]:
    """Paths of the files of which another came out."""
    import pyarrow.parquet as pq

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda each: digests_of(each, written.folder), written.tables))
    wrong = [
        each.files[name].path
        for each, digests in zip(written.tables, found, strict=True)
        for name, digest in digests.items()
        if digest != each.files[name].sha256
    ]
    parquet = [(each.rows, each.files[PARQUET].path) for each in written.tables]
    return wrong + [path for rows, path in parquet if pq.read_metadata(written.folder / path).num_rows != rows]


def digests_of(each: TableFiles, folder: Path) -> dict[str, str]:
    """Of the CSV and the JSON lines that the Parquet file gives."""
    import pyarrow.parquet as pq

    from annotator.publication.arrowtext import Read

    columns = each.table.columns
    csv = hashlib.sha256(b"".join(csv_pieces(Table(each.table.name, columns, []))))
    jsonl = hashlib.sha256()
    texts = [column.name for column in columns if column.kind == TEXT]
    with pq.ParquetFile(folder / each.files[PARQUET].path, read_dictionary=texts) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE):
            read = Read(batch, columns)
            csv.update(read.csv())
            jsonl.update(read.jsonl())
    return {CSV: csv.hexdigest(), JSONL: jsonl.hexdigest()}
