"""A sheet as a table of a paper: what is wide is laid out wide, an interval takes one cell, numbers are rounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotator.analysis import asked as kinds
from annotator.analysis.asked import Asked
from annotator.analysis.sheets import COUNT, NUMBER, PROBABILITY, SECONDS, SHARE, TEXT, Column, Sheet

NOTHING = "–"
SMALLEST_P = 0.001


@dataclass(frozen=True)
class Grid:
    """Texts by row; `is_text` says which columns are no numbers; `sums` counts the last rows that are sums."""

    head: tuple[str, ...]
    is_text: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    sums: int = 0


def grid_of(sheet: Sheet, asked: Asked) -> Grid:
    if asked.kind == kinds.CROSS:
        return _crossed(sheet, asked.show)
    if asked.kind == kinds.CORRELATION:
        return _triangle(sheet)
    if asked.kind == kinds.TREND:
        return _wide(sheet, "period", "category", "bugs")
    return _long(sheet)


def _long(sheet: Sheet) -> Grid:
    """As it is, with from and to in one column."""
    kept = [place for place, column in enumerate(sheet.columns) if column.title != "to"]
    head = tuple("95 % CI" if is_low(sheet.columns[p]) else headed(sheet.columns[p]) for p in kept)
    rows = tuple(tuple(_cell(sheet, row, place) for place in kept) for row in sheet.rows)
    return Grid(head, tuple(sheet.columns[place].is_ == TEXT for place in kept), rows)


def is_low(column: Column) -> bool:
    return column.title.endswith("from")


def headed(column: Column) -> str:
    return f"{column.title} (s)" if column.is_ == SECONDS else column.title


def _cell(sheet: Sheet, row: tuple[Any, ...], place: int) -> str:
    column = sheet.columns[place]
    if not is_low(column):
        return told(row[place], column.is_)
    low, high = row[place], row[place + 1]
    return NOTHING if low is None else f"[{told(low, column.is_, bare=True)}, {told(high, column.is_, bare=True)}]"


def told(value: Any, is_: str, *, bare: bool = False) -> str:
    """Rounded as a paper rounds: shares to a tenth of a percent, other numbers to two decimals."""
    if value is None:
        return NOTHING
    if is_ == SHARE:
        return f"{100 * value:.1f}" if bare else f"{100 * value:.1f} %"
    if is_ == PROBABILITY:
        return f"< {SMALLEST_P}" if value < SMALLEST_P else f"{value:.3f}"
    if is_ == NUMBER:
        return f"{value:.2f}"
    if is_ == SECONDS:
        return f"{value:.0f}"
    return str(value)


def _crossed(sheet: Sheet, show: str) -> Grid:
    """With sums where the sums mean something: of counts, and of shares."""
    key, is_ = {"counts": ("bugs", COUNT), "rows": ("row_share", SHARE), "columns": ("column_share", SHARE)}.get(
        show, ("lift", NUMBER)
    )
    cells = {(r["row"], r["column"]): r for r in sheet.records()}
    rows, columns = (list(dict.fromkeys(sheet.column(side))) for side in ("row", "column"))
    values = [[cells[a, b][key] for b in columns] for a in rows]
    lines = [[a, *(told(value, is_) for value in line)] for a, line in zip(rows, values, strict=True)]
    head, sums = [sheet.columns[0].title, *columns], 0
    if show in ("counts", "rows") and not sheet.is_many:
        head.append("Sum")
        for line, row in zip(lines, values, strict=True):
            line.append(told(sum(row), is_))
    if show in ("counts", "columns") and not sheet.is_many:
        totals = [sum(column) for column in zip(*values, strict=True)]
        last = [told(sum(totals), is_)] if show == "counts" else []
        lines.append(["Sum", *(told(total, is_) for total in totals), *last])
        sums = 1
    return Grid(tuple(head), (True, *[False] * (len(head) - 1)), tuple(map(tuple, lines)), sums)


def _triangle(sheet: Sheet) -> Grid:
    cells: dict[tuple[str, str], str] = {}
    for row in sheet.records():
        cells[row["b"], row["a"]] = told(row["rho"], NUMBER)
    names = list(dict.fromkeys([*sheet.column("a"), *sheet.column("b")]))
    rows = [(name, *(cells.get((name, other), "") for other in names[:-1])) for name in names[1:]]
    return Grid(("", *names[:-1]), (True, *[False] * (len(names) - 1)), tuple(rows))


def _wide(sheet: Sheet, down: str, across: str, value: str) -> Grid:
    cells: Mapping[tuple[str, str], Any] = {(r[down], r[across]): r[value] for r in sheet.records()}
    rows, columns = (list(dict.fromkeys(sheet.column(side))) for side in (down, across))
    lines = tuple((a, *(str(cells[a, b]) for b in columns)) for a in rows)
    title = next(column.title for column in sheet.columns if column.key == down)
    return Grid((title, *columns), (True, *[False] * len(columns)), lines)
