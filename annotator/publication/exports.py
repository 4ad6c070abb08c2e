"""One table of a study as a file: its name, its type, and its bytes piece by piece."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from annotator.publication import columns, queries, side_by_side
from annotator.publication.columns import CONTEXT, TEXT, Column, Table
from annotator.publication.formats import CSV, JSONL, PARQUET, TYPES, pieces
from annotator.publication.pseudonyms import hidden, pseudonyms_of
from annotator.studies.models import Study
from annotator.web.errors import BadInput

FORMATS = (CSV, JSONL, PARQUET)
SAFE = "spreadsheet-safe"


@dataclass(frozen=True)
class Export:
    filename: str
    content_type: str
    pieces: Iterator[bytes]


def answers(study: Study) -> Table:
    order = ("bug", "round_number", "rater")
    return Table("answers", columns.ANSWERS, queries.answers_of(study), sorted_by=order)


def finals(study: Study) -> Table:
    return Table("finals", columns.FINALS, queries.finals_of(study))


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


def table_of(study: Study, name: str, *, pseudonyms: bool = False) -> Table:
    """The named table, with user names or pseudonyms."""
    if name not in TABLES:
        raise BadInput(f"There is no table “{name}”. There are {', '.join(TABLES)}.")
    if name == side_by_side.NAME:
        return side_by_side.table(study, hide=pseudonyms_of(study) if pseudonyms else None)
    table = LONG_TABLES[name](study)
    return hidden(table, pseudonyms_of(study)) if pseudonyms else table


def export(study: Study, name: str, format_: str, *, pseudonyms: bool = False, is_safe: bool = False) -> Export:
    """The table as a file; `is_safe` makes a CSV that a spreadsheet opens without running anything."""
    if format_ not in FORMATS:
        raise BadInput(f"There is no format “{format_}”. There are {', '.join(FORMATS)}.")
    if is_safe and format_ != CSV:
        raise BadInput("Only CSV has a spreadsheet-safe variant: the other formats are not run by spreadsheets.")
    table = table_of(study, name, pseudonyms=pseudonyms)
    parts = [study.slug, name, *(["pseudonyms"] if pseudonyms else []), *([SAFE] if is_safe else [])]
    return Export(f"{'-'.join(parts)}.{format_}", TYPES[format_], pieces(table, format_, is_safe=is_safe))
