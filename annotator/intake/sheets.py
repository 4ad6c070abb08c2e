"""A sheet as an import sees it: header, columns by name or place, rows of text with their own numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from annotator.intake.apart import read_workbook
from annotator.intake.delimited import read_delimited
from annotator.intake.workbooks import MAX_CELLS, TOO_LARGE, Worksheet, is_workbook
from annotator.web.errors import BadInput

PLACE = re.compile(r"#(\d{1,6})\Z")
OLE, PDF = b"\xd0\xcf\x11\xe0", b"%PDF"
SAFE_NAME = "spreadsheet-safe"  # an export whose formula-like cells begin with an apostrophe
SAFE_PREFIXED = re.compile(r"\A'(?='*[=+\-@\t\r\n])")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
LISTED, MOST_MERGED, LONGEST_SAID = 12, 500_000, 60


class Row(NamedTuple):
    """One row of the sheet: its own number (the first line of the sheet is 1) and its cells."""

    number: int
    cells: list[str]


class Remark(NamedTuple):
    """Something about a place of the sheet that a person should know."""

    row: int | None
    column: str
    code: str
    text: str


@dataclass(slots=True)
class Grid:
    """All cells of a sheet, before anybody has said which rows head it."""

    records: list[list[str]]
    name: str = ""
    names: tuple[str, ...] = ()
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)
    uncached: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Sheet:
    """Header and data. Columns are addressed by `place`, from 0."""

    header: list[list[str]]
    rows: list[Row]
    width: int
    labels: list[str]  # how a person would call each column
    name: str = ""
    names: tuple[str, ...] = ()
    remarks: list[Remark] = field(default_factory=list)
    flaws: list[tuple[int, int]] = field(default_factory=list)  # row number and place of cells that cannot be stored

    def place(self, reference: str) -> int:
        """Where a column named by its header, or by `#n`, stands."""
        if found := PLACE.match(reference.strip()):
            return self.numbered(int(found[1]), reference)
        if len(self.header) > 1:
            raise BadInput(f"Two rows head this sheet, so name “{reference}” by its place{self.hint(reference)}.")
        return self.named(reference)

    def said(self, reference: str) -> str:
        """The column in words: one that is named by its place says its header, too."""
        return self.called(self.place(reference)) if PLACE.match(reference.strip()) else reference

    def called(self, place: int) -> str:
        """“#6 (Impact / Final)”, or its place alone where no header names it."""
        is_named = any(row[place].strip() for row in self.header)
        return f"#{place + 1} ({self.labels[place][:LONGEST_SAID]})" if is_named else f"#{place + 1}"

    def numbered(self, number: int, reference: str) -> int:
        if not 1 <= number <= self.width:
            raise BadInput(f"The sheet has no column {reference}: it has {self.width}.")
        return number - 1

    def named(self, reference: str) -> int:
        names = self.header[0] if self.header else []
        places = [at for at, name in enumerate(names) if name == reference]
        places = places or [at for at, name in enumerate(names) if squeeze(name) == squeeze(reference) != ""]
        if not places:
            raise BadInput(f"The sheet has no column “{reference}”. {self.columns_said()}")
        if len(places) > 1:
            where = ", ".join(f"#{at + 1}" for at in places)
            raise BadInput(
                f"The column name “{reference}” occurs {len(places)} times ({where}): say which by its place."
            )
        return places[0]

    def hint(self, reference: str) -> str:
        """The places whose lowest header reads so, as a suggestion."""
        places = [at for at, name in enumerate(self.header[-1]) if squeeze(name) == squeeze(reference) != ""]
        return ": " + " or ".join(f"“#{at + 1}”" for at in places[:LISTED]) if places else ", such as “#1”"

    def columns_said(self) -> str:
        names = [name for name in (self.header[0] if self.header else []) if name.strip()]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        return f"It has {', '.join(names[:LISTED])}{more}." if names else "Its header is empty."


def squeeze(text: str) -> str:
    return " ".join(text.split())


def read_path(path: Path) -> bytes:
    """The file's bytes, or a sentence on why there are none."""
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder, not a sheet.") from None
    except OSError as problem:
        raise BadInput(f"{path} cannot be read: {problem.strerror}.") from None
    except ValueError:
        raise BadInput("The file's name holds a NUL character.") from None


def read_grid(data: bytes, *, filename: str = "", sheet: str | None = None, rows: int | None = None) -> Grid:
    """What kind of file it is says its content; the name only helps. `rows` stops after the first so many."""
    if not data:
        raise BadInput("The file is empty (0 bytes).")
    if data.startswith(OLE):
        raise BadInput("This is an old Excel file (XLS) or one with a password; save it as XLSX without a password.")
    if data.startswith(PDF):
        raise BadInput("This is a PDF, not a sheet; export the table as CSV or XLSX.")
    if is_workbook(data) or filename.lower().endswith((".xlsx", ".xlsm")):
        return grid_of(read_workbook(data, sheet=sheet, rows=rows), filename)
    if sheet is not None:
        raise BadInput(f"A text file has no sheets: leave “sheet: {sheet}” out of the mapping.")
    return Grid(unprefixed(read_delimited(data, filename=filename)[:rows], filename))


def grid_of(tab: Worksheet, filename: str) -> Grid:
    return Grid(unprefixed(tab.records, filename), tab.name, tab.names, tab.merges, tab.uncached)


def unprefixed(records: list[list[str]], filename: str) -> list[list[str]]:
    """A spreadsheet-safe export as it was before its cells were made safe."""
    if SAFE_NAME not in filename.lower():
        return records
    return [
        [SAFE_PREFIXED.sub("", cell, count=1) if cell[:1] == "'" else cell for cell in record] for record in records
    ]


def read_sheet(grid: Grid, *, header_rows: int = 1) -> Sheet:
    """Split a grid into header and data; empty rows and columns at the end are no data."""
    if not grid.records or not any(any(map(str.strip, record)) for record in grid.records):
        raise BadInput("The sheet is empty.")
    records = grid.records
    spread(grid, header_rows)
    rows = [Row(at, cells) for at, cells in enumerate(records[header_rows:], header_rows + 1) if not is_empty(cells)]
    width = max((used_width(cells) for cells in (*records[:header_rows], *(row.cells for row in rows))), default=0)
    if width * len(rows) > MAX_CELLS:  # one wide row makes a long sheet large: every row is filled up to it
        raise BadInput(TOO_LARGE)
    for row in rows:
        fit(row.cells, width)
    header = [fit(list(record), width) for record in records[:header_rows]]
    header += [[""] * width for _ in range(header_rows - len(header))]
    sheet = Sheet(header, rows, width, labels_of(header, width), grid.name, grid.names)
    sheet.remarks.extend(remarks_on(sheet, grid))
    sheet.flaws = list(flaws_in(rows))
    return sheet


def seems_headed_twice(records: list[list[str]]) -> bool:
    """Whether the first two rows head the data: the upper has gaps that the lower fills, or says one thing of several."""
    if len(records) < 3:
        return False
    first, second = ([squeeze(cell) for cell in row] for row in records[:2])
    upper, lower = [cell for cell in first if cell], [cell for cell in second if cell]
    if not upper or len(set(lower)) < 2:
        return False
    filled = sum(1 for at, cell in enumerate(second) if cell and not (at < len(first) and first[at]))
    is_said_of_several = len(set(upper)) <= len(upper) / 2 and not any(map(is_value, lower))
    return filled > len(second) / 2 or is_said_of_several


def is_value(cell: str) -> bool:
    """A number or an address: nothing that heads a column."""
    return "://" in cell or cell.replace(".", "", 1).replace("-", "", 1).isdigit()


def is_empty(cells: list[str]) -> bool:
    return not any(cells) or not any(map(str.strip, cells))


def used_width(cells: list[str]) -> int:
    for at in range(len(cells), 0, -1):
        if cells[at - 1].strip():
            return at
    return 0


def fit(cells: list[str], width: int) -> list[str]:
    """The same list, as wide as the sheet."""
    if len(cells) < width:
        cells.extend([""] * (width - len(cells)))
    elif len(cells) > width:
        del cells[width:]
    return cells


def spread(grid: Grid, header_rows: int) -> None:
    """Merged cells: in the header all of them say it; below, a cell merged downwards holds for its rows."""
    widest, filled = max(map(len, grid.records)), 0
    for first_column, first_row, last_column, last_row in grid.merges:
        records = grid.records[first_row - 1 : last_row]
        if not records or len(records[0]) < first_column:
            continue
        value = records[0][first_column - 1]
        across = min(last_column, widest) if first_row <= header_rows else first_column
        filled += len(records) * max(1, across - first_column)
        if filled > MOST_MERGED:
            raise BadInput(f"Merged cells cover more than {MOST_MERGED:,} cells: unmerge them.")
        for record in records:
            fit(record, max(len(record), across))
            record[first_column - 1 : across] = [value] * (across - first_column + 1)


def labels_of(header: list[list[str]], width: int) -> list[str]:
    """“Upper / lower” where several rows head the sheet; an upper cell stands for the blanks to its right."""
    upper = [carried(row) for row in header[:-1]]
    lowest = header[-1] if header else [""] * width
    labels = []
    for at in range(width):
        parts = [squeeze(row[at]) for row in (*upper, lowest)]
        said = " / ".join(part for part in dict.fromkeys(parts) if part)
        labels.append(said or f"Column {at + 1}")
    return labels


def carried(row: list[str]) -> list[str]:
    last, out = "", []
    for cell in row:
        last = cell if cell.strip() else last
        out.append(last)
    return out


def remarks_on(sheet: Sheet, grid: Grid) -> Iterator[Remark]:
    if len(sheet.header) == 1 and seems_headed_twice(grid.records):
        text = "This row seems to head the data, too: say header_rows: 2, and name columns by their place."
        yield Remark(2, "", "second_header_row", text)
    head = used_width(sheet.header[-1]) if len(sheet.header) == 1 else sheet.width
    longer = [row.number for row in sheet.rows if any(row.cells[head:]) and used_width(row.cells) > head]
    if longer:
        text = f"{len(longer)} rows go on after the last named column (#{head}), this one first."
        yield Remark(longer[0], f"#{head + 1}", "beyond_header", text)
    for number, column in grid.uncached:
        text = "The workbook stores no value for this formula: open and save it in a spreadsheet program."
        yield Remark(number, sheet.called(column - 1), "formula_without_value", text)


def flaws_in(rows: list[Row]) -> Iterator[tuple[int, int]]:
    for row in rows:
        if UNSTORABLE.search("\t".join(row.cells)):
            yield from ((row.number, at) for at, cell in enumerate(row.cells) if UNSTORABLE.search(cell))
