"""Sheets as pages show them: bars as SVG coloured by classes, tables of which each number leads to its bugs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from annotator.adjudication.queries import FINAL
from annotator.analysis import asked as kinds
from annotator.analysis.asked import REPOSITORY, Asked
from annotator.analysis.grids import NOTHING, Grid, grid_of, told
from annotator.analysis.palette import EASILY_TOLD
from annotator.analysis.reading import Reading
from annotator.analysis.sheets import SHARE, Sheet, Turn
from annotator.analysis.specs import stack_of, step_of, step_of_band
from annotator.studies.models import Study

WIDTH, ROW, LABEL = 640, 22, 240  # of a chart, in its own units
LONGEST = WIDTH - LABEL - 84
WIDE = 1100
LETTERS = 36  # of a category that fit beside its bar
LETTER = 7  # wide
ROOM_OF_A_NUMBER = 18


@dataclass(frozen=True)
class Cell:
    """A number, or a name; where it leads, and what a screen reader says there."""

    text: str
    url: str = ""
    says: str = ""
    heat: int = 0  # 0 to 5
    is_text: bool = False
    is_sum: bool = False


@dataclass(frozen=True)
class Line:
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Bar:
    """One category: its bar with the interval, and its number."""

    short: str
    n: int
    y: int
    width: float
    low: float
    high: float

    @property
    def text_y(self) -> int:
        return self.y + 14

    @property
    def rule_y(self) -> int:
        return self.y + 8

    @property
    def value_x(self) -> float:
        return max(LABEL + self.width, self.high) + 8


@dataclass(frozen=True)
class Piece:
    """A part of a stacked bar."""

    series: int  # from 1: its colour
    x: float
    width: float
    text: str

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True)
class Stack:
    short: str
    y: int
    pieces: tuple[Piece, ...]
    end: float
    total: str
    share: str

    @property
    def text_y(self) -> int:
        return self.y + 14


@dataclass(frozen=True)
class Series:
    number: int
    name: str
    n: int


@dataclass(frozen=True)
class Section:
    """One sheet with everything that its part of the page shows."""

    asked: Asked
    sheet: Sheet
    bars: tuple[Bar, ...] = ()
    stacks: tuple[Stack, ...] = ()
    series: tuple[Series, ...] = ()
    head: tuple[str, ...] = ()
    is_text: tuple[bool, ...] = ()  # by column
    lines: tuple[Line, ...] = ()
    is_heat: bool = False
    sums: int = 0
    unused: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        return ROW * len(self.bars or self.stacks) + 4

    @property
    def query(self) -> str:
        return urlencode(self.asked.query())

    @property
    def id(self) -> str:
        return "-".join(filter(None, (self.asked.kind, self.asked.by, self.asked.across)))

    @property
    def body(self) -> tuple[Line, ...]:
        return self.lines[: len(self.lines) - self.sums]

    @property
    def foot(self) -> tuple[Line, ...]:
        return self.lines[len(self.lines) - self.sums :]

    @property
    def headed(self) -> list[tuple[str, bool]]:
        """What heads each column, and whether numbers stand below."""
        return [(name, not is_text) for name, is_text in zip(self.head, self.is_text, strict=True)]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.sheet.turns

    @property
    def chosen(self) -> Mapping[str, str]:
        return self.asked.query()


Link = Callable[[str, str], str]


def section(study: Study, asked: Asked, sheet: Sheet) -> Section:
    if asked.kind == kinds.DISTRIBUTION:
        return _distribution(study, asked, sheet)
    if asked.kind == kinds.CROSS:
        return _cross(study, asked, sheet)
    grid = grid_of(sheet, asked)
    return replace(_plain(asked, sheet, grid), is_heat=asked.kind in (kinds.CORRELATION, kinds.TREND))


def _plain(asked: Asked, sheet: Sheet, grid: Grid) -> Section:
    most = max((int(text) for row in grid.rows for text in row[1:]), default=0) if asked.kind == kinds.TREND else 0
    lines = [
        Line(
            row[0],
            tuple(
                Cell(text, heat=_heat(asked, text, most), is_text=is_text)
                for text, is_text in zip(row[1:], grid.is_text[1:], strict=True)
            ),
        )
        for row in grid.rows
    ]
    return Section(asked, sheet, head=grid.head, is_text=grid.is_text, lines=tuple(lines), sums=grid.sums)


def _heat(asked: Asked, text: str, most: int) -> int:
    """Of a likeness, the step of its band; over time, of the largest count; of others none."""
    if asked.kind == kinds.TREND:
        return step_of(int(text) / (most or 1))
    if asked.kind != kinds.CORRELATION or not text or text == NOTHING:
        return 0
    return step_of_band(float(text))


# --- links


class Links:
    """To the lists of bugs; only final labels as they were given can be listed."""

    def __init__(self, study: Study, asked: Asked) -> None:
        self.study, self.is_listed = study, asked.labels == FINAL
        reading = Reading(study)
        self.uids: dict[str, dict[str, str]] = {}
        for side in filter(None, (asked.by, asked.across)):
            if side == REPOSITORY:
                continue
            question = reading.question(side)
            narrower = question.children if asked.level == "top" else {}
            self.uids[side] = {code.name: code.uid for code in question.codes if code.id not in narrower}
            self.uids[question.key] = self.uids[side]
            self.keys = getattr(self, "keys", {}) | {side: question.key}

    def url(self, *wanted: tuple[str, str]) -> str:
        """Of (facet or "repository", name) pairs."""
        query = {}
        for side, name in wanted:
            value = name if side == REPOSITORY else self.uids[side].get(name)
            if not value or not self.is_listed:
                return ""
            query[REPOSITORY if side == REPOSITORY else self.keys[side]] = value
        try:
            return f"{reverse('bugs:bugs', args=[self.study.slug])}?{urlencode(query)}"
        except NoReverseMatch:
            return ""


# --- a distribution


def _distribution(study: Study, asked: Asked, sheet: Sheet) -> Section:
    links, records = Links(study, asked), sheet.records()
    grid = grid_of(sheet, asked)
    place = [column.title for column in sheet.columns].index("Bugs") - 1
    lines = []
    for record, row in zip(records, grid.rows, strict=True):
        cells = [Cell(text) for text in row[1:]]
        url = links.url((asked.by, record["category"])) if record["bugs"] else ""
        cells[place] = Cell(row[1 + place], url, f"{record['bugs']} bugs, {record['category']}")
        lines.append(Line(row[0], tuple(cells)))
    most = max((record["high"] or 0 for record in records), default=0) or 1
    bars = tuple(_bar(record, place, most) for place, record in enumerate(records))
    used = {record["category"] for record in records if record["bugs"]}
    codes = Reading(study, level=asked.level).codes(Reading(study).question(asked.by))
    unused = tuple(code.name for code in codes if code.name not in used)
    return Section(asked, sheet, bars, head=grid.head, is_text=grid.is_text, lines=tuple(lines), unused=unused)


def _bar(record: dict[str, Any], place: int, most: float) -> Bar:
    def x(share: float | None) -> float:
        return round(LONGEST * (share or 0) / most, 1)

    return Bar(
        short=shortened(record["category"]),
        n=record["bugs"],
        y=place * ROW + 2,
        width=x(record["share"]),
        low=LABEL + x(record["low"]),
        high=LABEL + x(record["high"]),
    )


def shortened(name: str) -> str:
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


# --- one facet across another


def _cross(study: Study, asked: Asked, sheet: Sheet) -> Section:
    links, grid = Links(study, asked), grid_of(sheet, asked)
    cells = {(record["row"], record["column"]): record for record in sheet.records()}
    key = {"counts": "bugs", "rows": "row_share", "columns": "column_share"}.get(asked.show, "lift")
    most = max((record[key] or 0 for record in cells.values()), default=0) or 1
    columns = list(dict.fromkeys(sheet.column("column")))

    def cell(a: str, b: str, text: str) -> Cell:
        record = cells[a, b]
        url = links.url((asked.by, a), (asked.across, b)) if record["bugs"] else ""
        return Cell(text, url, f"{record['bugs']} bugs, {a}, {b}", step_of((record[key] or 0) / most))

    lines = []
    for row in grid.rows[: len(grid.rows) - grid.sums]:
        found = [cell(row[0], b, text) for b, text in zip(columns, row[1:], strict=False)]
        lines.append(Line(row[0], (*found, *(Cell(text, is_sum=True) for text in row[1 + len(columns) :]))))
    lines += [Line(row[0], tuple(map(Cell, row[1:]))) for row in grid.rows[len(grid.rows) - grid.sums :]]
    drawn = Section(
        asked, sheet, head=grid.head, is_text=grid.is_text, lines=tuple(lines), is_heat=True, sums=grid.sums
    )
    series = series_of(asked, sheet)
    if asked.show == "lift" or asked.shape == "heat" or not 1 < len(series) <= EASILY_TOLD:
        return drawn
    return replace(drawn, stacks=stacks_of(asked, sheet, series), series=series)


def series_of(asked: Asked, sheet: Sheet) -> tuple[Series, ...]:
    part = stack_of(asked)[1]
    totals: dict[str, int] = {}
    for record in sheet.records():
        totals[record[part]] = totals.get(record[part], 0) + record["bugs"]
    return tuple(Series(number, name, n) for number, (name, n) in enumerate(totals.items(), 1))


def stacks_of(asked: Asked, sheet: Sheet, series: tuple[Series, ...]) -> tuple[Stack, ...]:
    bar, part = stack_of(asked)
    key = {"counts": "bugs", "rows": "row_share", "columns": "column_share"}[asked.show]
    numbers = {one.name: one.number for one in series}
    rows: dict[str, list[dict[str, Any]]] = {}
    for record in sheet.records():
        rows.setdefault(record[bar], []).append(record)
    most = max((sum(record[key] for record in row) for row in rows.values()), default=0) or 1
    n = sum(record["bugs"] for record in sheet.records()) or 1
    found = []
    for place, (name, row) in enumerate(rows.items()):
        pieces, x = [], float(LABEL)
        for record in row:
            width = (WIDE - LABEL - 90) * record[key] / most
            text = str(record["bugs"]) if key == "bugs" else told(record[key], SHARE, bare=True)
            roomy = width > LETTER * len(text) and width > ROOM_OF_A_NUMBER / 2
            if width > 0:
                pieces.append(
                    Piece(numbers[record[part]], round(x, 1), round(max(0.5, width - 1), 1), text if roomy else "")
                )
            x += width
        total = sum(record["bugs"] for record in row)
        found.append(
            Stack(
                shortened(name), place * ROW + 2, tuple(pieces), round(x + 6, 1), str(total), f"{100 * total / n:.0f} %"
            )
        )
    return tuple(found)
