"""The content of a release, written to a folder: the same bytes from the same state.

All is read from one snapshot of the database, so that what is labelled meanwhile is in all of it or in none.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast

from django.db import connection, transaction

from annotator.publication import recompute
from annotator.publication.batches import length
from annotator.publication.column_page import column_page
from annotator.publication.columns import Table
from annotator.publication.contents import aliases, tables_of
from annotator.publication.documents import as_json, documents_of
from annotator.publication.files import File, content_hash
from annotator.publication.findings import document as findings_of
from annotator.publication.formats import CSV, JSONL, PARQUET, csv_cell, csv_pieces, json_cell
from annotator.publication.licence import licence_text
from annotator.publication.methods import markdown
from annotator.publication.options import Options
from annotator.publication.pseudonyms import Hide
from annotator.studies.models import Study

FORMATS = (CSV, JSONL, PARQUET)
SCRIPT, LICENCE, METHODS = "check.py", "LICENSE.md", "methods.md"
FIGURES = "figures"  # the folder of pictures, and what they are called
Tell = Callable[[int, int, str], None]  # parts done, of how many, what comes


class Picture(Protocol):
    """Counted within the snapshot, drawn after it: by what only workers and commands load."""

    def document(self) -> dict[str, Any]: ...

    def files(self) -> Iterable[tuple[str, bytes]]: ...


Pictures = Callable[[Study, Options, Hide], Sequence[Picture]]


@dataclass(frozen=True)
class TableFiles:
    """A table as it was written: its columns, how many rows, and its file in each format."""

    table: Table
    rows: int
    files: dict[str, File]


@dataclass(frozen=True)
class Written:
    """A release's content in a folder, before it has a number."""

    folder: Path
    tables: list[TableFiles]
    files: list[File]  # all of the content, by path
    documents: dict[str, Any]  # those written as JSON, by path

    @property
    def about(self) -> dict[str, Any]:
        return cast(dict[str, Any], self.documents["about.json"])

    @property
    def sha256(self) -> str:
        return content_hash(self.files)


class Sink:
    """A file that is written once, with its hash."""

    def __init__(self, folder: Path, path: str) -> None:
        self.path, self.size, self.digest = path, 0, hashlib.sha256()
        (folder / path).parent.mkdir(exist_ok=True)
        self.file = (folder / path).open("wb")

    def write(self, piece: bytes | memoryview) -> None:
        self.digest.update(piece)
        self.size += len(piece)
        self.file.write(piece)

    def __enter__(self) -> "Sink":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, at: TracebackType | None
    ) -> None:
        self.file.close()

    def done(self) -> File:
        return File(self.path, self.digest.hexdigest(), self.size)


def write(study: Study, options: Options, folder: Path, *, tell: Tell, pictures: Pictures) -> Written:
    with snapshot():
        hide = aliases(study, options)
        tables = tables_of(study, options)
        steps = len(tables) + 1
        written = []
        for place, table in enumerate(tables):
            tell(place, steps, table.name)
            each = write_table(table, folder)
            written += [each] if each.rows else without_files(each, folder)
        tell(len(tables), steps, "agreement and counts")
        documents = documents_of(study, options, hide)
        if findings := findings_of(study, hide):
            documents["findings.json"] = findings
        if figures := pictures(study, options, hide):
            documents[f"{FIGURES}.json"] = [figure.document() for figure in figures]
    files = [write_bytes(folder, path, as_json(document)) for path, document in documents.items()]
    files.append(write_bytes(folder, SCRIPT, Path(recompute.__file__).read_bytes()))
    files.append(write_bytes(folder, METHODS, markdown(documents["methods.json"]).encode()))
    files.append(write_bytes(folder, LICENCE, licence_text(documents["about.json"]).encode()))
    files.append(write_bytes(folder, "columns.md", column_page([each.table for each in written]).encode()))
    files += [file for each in written for file in each.files.values()]
    for place, figure in enumerate(figures):
        tell(place, len(figures), FIGURES)
        files += [write_bytes(folder, path, data) for path, data in figure.files()]
    return Written(folder, written, sorted(files, key=lambda file: file.path), documents)


def write_bytes(folder: Path, path: str, data: bytes) -> File:
    with Sink(folder, path) as sink:
        sink.write(data)
    return sink.done()


def write_table(table: Table, folder: Path) -> TableFiles:
    """Read once; a thread writes each batch in all formats while the next one is read."""
    from annotator.publication.arrowlines import Indexed  # 60 MB that most processes never need
    from annotator.publication.parquet import writer

    rows = 0
    with ExitStack() as open_:
        csv, jsonl, parquet = (open_.enter_context(Sink(folder, f"{table.name}.{each}")) for each in FORMATS)
        csv.write(b"".join(csv_pieces(Table(table.name, table.columns, []))))
        file = open_.enter_context(writer(_Open(parquet), table.columns))

        def write(batch: Indexed) -> None:
            csv.write(batch.lines(csv_cell, end="\r\n"))
            jsonl.write(batch.lines(json_cell, begin="{", end="}\n"))
            file.write_batch(batch.record_batch())

        with ThreadPoolExecutor(1) as beside:
            before: Future[None] | None = None
            for batch in table.batches:
                rows += length(batch)
                made = Indexed(batch, table.columns)
                if before:
                    before.result()  # two batches are in memory, and no more
                before = beside.submit(write, made)
            if before:
                before.result()
    return TableFiles(
        table, rows, {name: sink.done() for name, sink in zip(FORMATS, (csv, jsonl, parquet), strict=True)}
    )


def without_files(each: TableFiles, folder: Path) -> list[TableFiles]:
    """A table without rows is no table: readers take an empty file for a mistake."""
    for file in each.files.values():
        (folder / file.path).unlink()
    return []


class _Open:
    """What pyarrow takes for a file."""

    def __init__(self, sink: Sink) -> None:
        self.sink, self.closed = sink, False

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self.sink.write(view)
        return len(view)

    def tell(self) -> int:
        return self.sink.size

    def flush(self) -> None:
        self.sink.file.flush()

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


@contextmanager
def snapshot() -> Iterator[None]:
    """One state of the database for all that is read, and nobody waits: on SQLite others go on writing."""
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    backend = cast(Any, connection)
    usual, backend.transaction_mode = backend.transaction_mode, "DEFERRED"
    try:
        with transaction.atomic():
            yield
    finally:
        backend.transaction_mode = usual
