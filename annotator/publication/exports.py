"""One table of a study as a file: its name, its type, and its bytes piece by piece."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from annotator.codebook.models import Version
from annotator.publication import columns, queries, side_by_side
from annotator.publication.as_of import as_published, version_named
from annotator.publication.batches import taken
from annotator.publication.columns import CONTEXT, TEXT, Batch, Column, Table
from annotator.publication.formats import CSV, JSONL, PARQUET, TYPES, pieces
from annotator.publication.pseudonyms import Hide, hidden, pseudonyms_of
from annotator.studies.models import Study
from annotator.web.errors import BadInput

FORMATS = (CSV, JSONL, PARQUET)
SAFE = "spreadsheet-safe"
PARTIAL = "without-undecided"


@dataclass(frozen=True)
class Export:
    filename: str
    content_type: str
    pieces: Iterator[bytes]


def answers(study: Study, *, hide: Hide = str) -> Table:
    """Its rows are in an order that tells nothing of names that are hidden."""
    return Table("answers", columns.ANSWERS, queries.answers_of(study, hide))


def finals(study: Study, *, as_of: Version | None = None) -> Table:
    return Table("finals", columns.FINALS, queries.finals_of(study, as_of=as_of))


def history(study: Study) -> Table:
    return Table("history", columns.HISTORY, queries.history_of(study))


def bugs(study: Study) -> Table:
    names = queries.context_names(study)
    beside = tuple(Column(f"{CONTEXT}{name}", TEXT, "a column of the imported sheet") for name in names)
    return Table("bugs", (*columns.BUGS, *beside), queries.bugs_of(study, names))


LONG_TABLES: dict[str, Callable[[Study], Table]] = {
    "answers": answers,
    "finals": finals,
    "history": history,
    "bugs": bugs,
}
TABLES = (*LONG_TABLES, side_by_side.NAME)
BY_NAME = ("answers", "history", side_by_side.NAME)  # they tell whose answer is whose


def table_of(study: Study, name: str, *, pseudonyms: bool = False, codebook: str = "") -> Table:
    """The named table, with user names or pseudonyms, and with the names of the codebook's version of that number."""
    if name not in TABLES:
        raise BadInput(f"There is no table “{name}”. There are {', '.join(TABLES)}.")
    if name == side_by_side.NAME and codebook:
        raise BadInput("The table side_by_side cannot be had as of a version: take answers and finals.")
    if name == side_by_side.NAME:
        return side_by_side.table(study, hide=pseudonyms_of(study) if pseudonyms else None)
    hide = pseudonyms_of(study) if pseudonyms else None
    table = _long_table(study, name, version_named(study, codebook), hide)
    return hidden(table, hide) if hide else table


def _long_table(study: Study, name: str, version: Version | None, hide: Hide | None) -> Table:
    if name == "finals" and version:
        return as_published(finals(study, as_of=version), version, is_mapped=True)
    table = answers(study, hide=hide or str) if name == "answers" else LONG_TABLES[name](study)
    return as_published(table, version, is_mapped=False) if version else table


def without(table: Table, bugs: Collection[int]) -> Table:
    place, left_out = table.place("bug"), set(bugs)

    def kept(batch: Batch) -> Batch:
        return taken(batch, [row for row, bug in enumerate(batch[place].values()) if bug not in left_out])

    return replace(table, batches=map(kept, table.batches))


def export(
    study: Study,
    name: str,
    format_: str,
    *,
    pseudonyms: bool = False,
    is_safe: bool = False,
    codebook: str = "",
    left_out: Collection[int] = (),
) -> Export:
    """The table as a file; `is_safe` makes a CSV that a spreadsheet opens without running anything.

    `left_out` are numbers of bugs of which it is not told whose answer is whose.
    """
    if format_ not in FORMATS:
        raise BadInput(f"There is no format “{format_}”. There are {', '.join(FORMATS)}.")
    if is_safe and format_ != CSV:
        raise BadInput("Only CSV has a spreadsheet-safe variant: the other formats are not run by spreadsheets.")
    table = table_of(study, name, pseudonyms=pseudonyms, codebook=codebook)
    is_partial = bool(left_out) and name in BY_NAME
    if is_partial:
        table = without(table, left_out)
    parts = [
        study.slug,
        name,
        *([f"codebook-v{codebook.removeprefix('v')}"] if codebook else []),
        *(["pseudonyms"] if pseudonyms else []),
        *([PARTIAL] if is_partial else []),
        *([SAFE] if is_safe else []),
    ]
    return Export(f"{'-'.join(parts)}.{format_}", TYPES[format_], pieces(table, format_, is_safe=is_safe))
