"""The first rows of every sheet of a file: enough to choose columns by, without reading it again."""

from typing import Any

from annotator.intake.apart import read_tabs
from annotator.intake.sheets import Grid, Sheet, grid_of, read_grid, read_sheet
from annotator.intake.workbooks import is_workbook
from annotator.web.errors import BadInput

ROWS = 40
LONGEST_CELL = 300
MOST_SHEETS, MOST_COLUMNS = 20, 400

Head = list[dict[str, Any]]


def heads_of(data: bytes, *, filename: str) -> Head:
    """For each sheet its name, first rows and merged ranges; refuses what cannot be read."""
    if is_workbook(data):
        return [head_of(grid_of(tab, filename)) for tab in read_tabs(data, rows=ROWS, most=MOST_SHEETS)]
    return [head_of(read_grid(data, filename=filename, rows=ROWS))]


def head_of(grid: Grid) -> dict[str, Any]:
    if (width := max(map(len, grid.records), default=0)) > MOST_COLUMNS:
        raise BadInput(f"The sheet has {width:,} columns, more than {MOST_COLUMNS} cannot be chosen from on a page.")
    records = [[cell[:LONGEST_CELL] for cell in record] for record in grid.records[:ROWS]]
    merges = [list(merge) for merge in grid.merges if merge[1] <= ROWS]
    return {"name": grid.name, "records": [[clean(cell) for cell in record] for record in records], "merges": merges}


def clean(cell: str) -> str:
    """Without what no database holds; the check of the whole sheet says where it stands."""
    return cell.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def preview(head: Head, *, sheet: str | None, header_rows: int) -> Sheet:
    """The first rows as an import would see them. BadInput where there is nothing to see."""
    found = next((tab for tab in head if tab["name"] == sheet), head[0])
    merges = [(first, top, last, bottom) for first, top, last, bottom in found["merges"]]
    records = [list(record) for record in found["records"]]
    return read_sheet(Grid(records, found["name"], tuple(sheets(head)), merges), header_rows=header_rows)


def sheets(head: Head) -> list[str]:
    return [tab["name"] for tab in head if tab["name"]]
