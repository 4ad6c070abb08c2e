"""The tables of a release, read back from each format and written again: they must come out as they were."""

import hashlib

from annotator.publication.columns import Table
from annotator.publication.formats import CSV, JSONL, PARQUET, csv_pieces
from annotator.publication.writing import TableFiles, Written


def differing(written: Written) -> list[str]:
    """Paths of the files of which another came out."""
    return [path for each in written.tables for path in differing_in(each, written)]


def differing_in(each: TableFiles, written: Written) -> list[str]:
    import pyarrow.parquet as pq

    from annotator.publication.arrowtext import csv_of, jsonl_of

    columns = each.table.columns
    csv, jsonl = hashlib.sha256(), hashlib.sha256()
    csv.update(b"".join(csv_pieces(Table(each.table.name, columns, []))))
    rows = 0
    with pq.ParquetFile(written.folder / each.files[PARQUET].path) as file:
        for place in range(file.num_row_groups):
            for batch in file.read_row_group(place).to_batches():
                csv.update(csv_of(batch, columns))
                jsonl.update(jsonl_of(batch, columns))
                rows += len(batch)
    found = {CSV: csv.hexdigest(), JSONL: jsonl.hexdigest()}
    wrong = [each.files[name].path for name, digest in found.items() if each.files[name].sha256 != digest]
    return [*wrong, *([each.files[PARQUET].path] if rows != each.rows else [])]
