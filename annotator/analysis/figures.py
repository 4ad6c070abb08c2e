"""Distributions as the page draws them: bars as SVG coloured by classes, a table that holds every number."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from annotator.adjudication.queries import FINAL
from annotator.analysis.queries import Code, Question
from annotator.analysis.tables import Tables

WIDTH, ROW, LABEL = 640, 22, 240  # of a chart, in its own units
LONGEST = WIDTH - LABEL - 84
LETTERS = 36  # of a category that fit beside its bar
STEPS = 5  # of a heat map


@dataclass(frozen=True)
class Bar:
    """One category: its bar, its number, and where its bugs are listed."""

    name: str
    short: str
    n: int
    share: float  # of the facet's bugs, 0 to 1
    total: int | None  # with all narrower categories, where there are any
    y: int
    width: float
    url: str

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.1f} %"

    @property
    def text_y(self) -> int:
        return self.y + 14

    @property
    def value_x(self) -> float:
        return LABEL + self.width + 8


@dataclass(frozen=True)
class Distribution:
    """One facet: bars by category, the most frequent first."""

    key: str
    name: str
    bugs: int
    bars: tuple[Bar, ...]
    broader: tuple[tuple[str, int], ...]  # given to no bug, but with narrower ones that were
    unused: tuple[str, ...]
    has_totals: bool
    is_many: bool

    @property
    def height(self) -> int:
        return ROW * len(self.bars) + 4


@dataclass(frozen=True)
class Cell:
    n: int
    heat: int  # 0 to 5
    url: str
    says: str


@dataclass(frozen=True)
class Line:
    name: str
    cells: tuple[Cell, ...]
    total: int


@dataclass(frozen=True)
class Cross:
    """A facet across another, or across the repositories."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    totals: tuple[int, ...]
    total: int


def distributions_of(read: Tables) -> list[Distribution]:
    return [distribution(read, question) for question in read.used()]


def distribution(read: Tables, question: Question) -> Distribution:
    totals = read.rollup_of(question)
    bugs = read.bugs.get(question.id, 0)
    counts = [(code, read.counts.get(code.id, 0)) for code in question.codes]
    used = sorted(((code, n) for code, n in counts if n), key=lambda pair: -pair[1])
    most = max((n for _, n in used), default=1)
    bars = [
        Bar(
            name=code.name,
            short=shortened(code.name),
            n=n,
            share=n / bugs,
            total=totals.get(code.name),
            y=place * ROW + 2,
            width=round(LONGEST * n / most, 1),
            url=bugs_url(read, [(question, code)]),
        )
        for place, (code, n) in enumerate(used)
    ]
    unused = tuple(code.name for code, n in counts if not n and code.name not in totals)
    broader = [(code.name, totals[code.name]) for code, n in counts if not n and code.name in totals]
    return Distribution(
        key=question.key,
        name=question.name,
        bugs=bugs,
        bars=tuple(bars),
        broader=tuple(sorted(broader, key=lambda pair: -pair[1])),
        unused=unused,
        has_totals=bool(totals),
        is_many=question.is_many,
    )


def shortened(name: str) -> str:
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def bugs_url(read: Tables, wanted: list[tuple[Question, Code]], repository: str = "") -> str:
    """The list of these bugs; only final labels can be listed."""
    if read.labels.choice != FINAL:
        return ""
    query = {question.key: code.uid for question, code in wanted} | ({"repository": repository} if repository else {})
    try:
        return f"{reverse('bugs:bugs', args=[read.labels.study.slug])}?{urlencode(query)}"
    except NoReverseMatch:
        return ""


def across_repositories(read: Tables, question: Question) -> Cross:
    table = read.by_repository([question])[question.key]
    codes = {code.name: code for code in question.codes}
    places = sorted({place for row in table.values() for place in row})

    def url(a: str, b: str) -> str:
        return bugs_url(read, [(question, codes[a])], b)

    return cross(f"{question.name} by repository", table, places, url)


def across(read: Tables, one: Question, other: Question) -> Cross:
    table = read.crosstabs([(one, other)])[f"{one.key} × {other.key}"]
    codes = {code.name: code for code in one.codes}
    others = {code.name: code for code in other.codes}
    met = {name for row in table.values() for name in row}

    def url(a: str, b: str) -> str:
        return bugs_url(read, [(one, codes[a]), (other, others[b])])

    return cross(f"{one.name} by {other.name.lower()}", table, [name for name in others if name in met], url)


def cross(title: str, table: dict[str, dict[str, int]], columns: list[str], url: Callable[[str, str], str]) -> Cross:
    most = max((n for row in table.values() for n in row.values()), default=1)
    lines = [
        Line(
            name=name,
            cells=tuple(
                Cell(
                    n=row.get(column, 0),
                    heat=heat(row.get(column, 0), most),
                    url=url(name, column) if row.get(column) else "",
                    says=f"{row.get(column, 0)} bugs, {name}, {column}",
                )
                for column in columns
            ),
            total=sum(row.values()),
        )
        for name, row in table.items()
    ]
    totals = tuple(sum(row.get(column, 0) for row in table.values()) for column in columns)
    return Cross(title=title, columns=tuple(columns), lines=tuple(lines), totals=totals, total=sum(totals))


def heat(n: int, most: int) -> int:
    """0 for none, then five steps that rise with the root: a table's largest cell dwarfs the others."""
    return 0 if n == 0 else min(STEPS, 1 + int((STEPS - 1) * (n / most) ** 0.5 + 0.5))
