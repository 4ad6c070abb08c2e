"""Workbooks (XLSX): refused before they are opened where they are broken or a bomb, else cells as text.

Called in a process of its own: see apart.py.
"""

import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from annotator.web.errors import BadInput

MAX_UNPACKED = 128 * 1024 * 1024
MAX_RATIO, RATIO_FROM = 100, 8 * 1024 * 1024  # a real sheet packs 5 to 40 to one
MAX_PARTS = 5_000
MAX_CELLS = 2_000_000
MAX_COLUMNS = 16_384  # more no spreadsheet program has
MAX_CHARACTERS = 64_000_000  # a text that is stored once may stand in any number of cells
BROKEN = "The workbook cannot be read: it is damaged or no XLSX; save it again as XLSX or as CSV."
BOMB = "The workbook unpacks to far more than a sheet holds and was not opened; save the data as CSV."
TOO_LARGE = f"The sheet has more than {MAX_CELLS:,} cells; split it."
TOO_LONG = f"The sheet has more than {MAX_CHARACTERS:,} characters; split it."
TOO_WIDE = f"A row of the sheet has more than {MAX_COLUMNS:,} cells: no spreadsheet program reads it."
ROW = re.compile(rb"<(?:\w+:)?row[\s>]")
PLACE = rb"([A-Z]{1,3})\$?(\d{1,7})"
MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s[^<>]{0,200}?ref="\$?%b:\$?%b"' % (PLACE, PLACE))
UNCACHED = re.compile(  # repeats are bounded: the text of a cell may look like the beginning of a thousand others
    rb'<(?:\w+:)?c\s[^<>]{0,200}?r="%b"[^<>]{0,200}>\s{0,99}<(?:\w+:)?f(?:\s[^<>]{0,999})?(?:/>|>[^<]*</(?:\w+:)?f>)'
    rb"\s{0,99}(?:<(?:\w+:)?v\s{0,99}/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s{0,99}</(?:\w+:)?c>" % PLACE
)
ESCAPE = re.compile(r"_x00(0[9AaDd])_")


@dataclass(slots=True)
class Worksheet:
    """The cells of one sheet, its merged ranges and the formulas for which no value is stored."""

    name: str
    names: tuple[str, ...]  # all sheets of the workbook
    records: list[list[str]]
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)  # first column, row; last column, row
    uncached: list[tuple[int, int]] = field(default_factory=list)  # row, column, from 1


def is_workbook(data: bytes) -> bool:
    return data.startswith(b"PK")


def tabs_in(data: bytes, *, sheet: str | None, rows: int | None, most: int) -> list[Worksheet]:
    """The first sheets, or the one of that name; `rows` stops each after the first so many."""
    from openpyxl import load_workbook

    refuse_bombs(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # styles and validations that openpyxl leaves out
        try:
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            return list(read_tabs(book, sheet, rows, most))
        except (BadInput, MemoryError):
            raise
        except Exception:
            # openpyxl raises a dozen kinds for damaged parts, defusedxml its own for entities
            raise BadInput(BROKEN) from None


def refuse_bombs(data: bytes) -> None:
    try:
        parts = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise BadInput(BROKEN) from None
    packed_too_well = any(
        part.file_size > RATIO_FROM and part.file_size > MAX_RATIO * max(part.compress_size, 1) for part in parts
    )
    if packed_too_well or len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise BadInput(BOMB)


def read_tabs(book: Any, wanted: str | None, rows: int | None, most: int) -> Iterator[Worksheet]:
    tabs = {tab.title: tab for tab in book.worksheets}
    if not tabs:
        raise BadInput("The workbook holds no sheet with cells.")
    if wanted is not None and wanted not in tabs:
        listed = ", ".join(f"“{title}”" for title in tabs)
        raise BadInput(f"The workbook has no sheet “{wanted}”; it has {listed}.")
    for name in [wanted] if wanted is not None else list(tabs)[:most]:
        yield read_tab(book, name, tuple(tabs), tabs[name], rows)


def read_tab(book: Any, name: str, names: tuple[str, ...], tab: Any, rows: int | None) -> Worksheet:
    raw = book._archive.read(tab._worksheet_path)
    refuse_wide(raw)
    tab.reset_dimensions()
    records = list(records_of(tab, rows))
    return Worksheet(name, names, records, list(merges_of(raw)), list(uncached_of(raw)))


def refuse_wide(raw: bytes) -> None:
    """A row is built as a whole before anybody can count its cells, so they are counted in the text."""
    starts = [found.start() for found in ROW.finditer(raw)]
    for start, end in pairwise([*starts, len(raw)]):
        if end - start > 4 * MAX_COLUMNS and cells_in(raw, start, end) > MAX_COLUMNS:
            raise BadInput(TOO_WIDE)


def cells_in(raw: bytes, start: int, end: int) -> int:
    return sum(raw.count(mark, start, end) for mark in (b"<c ", b"<c>", b"<c/", b":c ", b":c>", b":c/"))


def records_of(tab: Any, rows: int | None) -> Iterator[list[str]]:
    cells = characters = 0
    for values in islice(tab.iter_rows(values_only=True), rows):
        cells += len(values) or 1
        if cells > MAX_CELLS:
            raise BadInput(TOO_LARGE)
        record = [value if type(value) is str and "_x00" not in value else as_text(value) for value in values]
        characters += sum(map(len, record))
        if characters > MAX_CHARACTERS:
            raise BadInput(TOO_LONG)
        yield record


def as_text(value: Any) -> str:
    """A cell as people read it: TRUE, whole numbers without .0, ISO dates."""
    if value is None:
        return ""
    if isinstance(value, str):
        return ESCAPE.sub(lambda found: chr(int(found[1], 16)), value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def merges_of(raw: bytes) -> Iterator[tuple[int, int, int, int]]:
    for first_column, first_row, last_column, last_row in MERGE.findall(raw):
        yield column_number(first_column), int(first_row), column_number(last_column), int(last_row)


def uncached_of(raw: bytes) -> Iterator[tuple[int, int]]:
    if b"<f" not in raw and b":f" not in raw:
        return
    for column, row in UNCACHED.findall(raw):
        yield int(row), column_number(column)


def column_number(letters: bytes) -> int:
    """A is 1, Z 26, AA 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number
