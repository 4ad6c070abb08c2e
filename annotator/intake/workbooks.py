"""Workbooks (XLSX): refused before they are opened where they are broken or a bomb, else cells as text."""

import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from annotator.web.errors import BadInput

T = TypeVar("T")
MAX_UNPACKED = 256 * 1024 * 1024
MAX_RATIO, RATIO_FROM = 100, 8 * 1024 * 1024  # a real sheet packs 5 to 40 to one
MAX_PARTS = 5_000
MAX_CELLS = 5_000_000
BROKEN = "The workbook cannot be read: it is damaged or no XLSX; save it again as XLSX or as CSV."
BOMB = "The workbook unpacks to far more than a sheet holds and was not opened; save the data as CSV."
TOO_LARGE = f"The sheet has more than {MAX_CELLS:,} cells; split it."
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


def read_workbook(data: bytes, *, sheet: str | None = None, rows: int | None = None) -> Worksheet:
    """The sheet of that name, or the first; `rows` stops after the first so many."""
    return opened(data, lambda book: read_tab(book, sheet, rows))


def sheet_names(data: bytes) -> list[str]:
    return opened(data, lambda book: [tab.title for tab in book.worksheets])


def opened(data: bytes, read: Callable[[Any], T]) -> T:
    """What `read` makes of the workbook, unless it is broken or a bomb."""
    from openpyxl import load_workbook  # it brings numpy: only who reads a workbook pays for it

    refuse_bombs(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # styles and validations that openpyxl leaves out
        try:
            return read(load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False))
        except BadInput:
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


def read_tab(book: Any, wanted: str | None, rows: int | None) -> Worksheet:
    tabs = {tab.title: tab for tab in book.worksheets}
    if not tabs:
        raise BadInput("The workbook holds no sheet with cells.")
    name = wanted if wanted is not None else next(iter(tabs))
    if name not in tabs:
        listed = ", ".join(f"“{title}”" for title in tabs)
        raise BadInput(f"The workbook has no sheet “{name}”; it has {listed}.")
    tab = tabs[name]
    tab.reset_dimensions()
    raw = book._archive.read(tab._worksheet_path)
    records = list(records_of(tab, rows))
    return Worksheet(name, tuple(tabs), records, list(merges_of(raw)), list(uncached_of(raw)))


def records_of(tab: Any, rows: int | None) -> Iterator[list[str]]:
    seen = 0
    for values in islice(tab.iter_rows(values_only=True), rows):
        seen += len(values) or 1
        if seen > MAX_CELLS:
            raise BadInput(TOO_LARGE)
        yield [value if type(value) is str and "_x00" not in value else as_text(value) for value in values]


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
