"""One facet across another, or across the repositories: counts, shares, lift, and tests of independence."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from annotator.analysis.asked import REPOSITORY, Asked
from annotator.analysis.distributing import choices, ordered
from annotator.analysis.left_out import left_out
from annotator.analysis.queries import Question
from annotator.analysis.reading import Reading
from annotator.analysis.sheets import COUNT, NUMBER, PROBABILITY, SHARE, WHY, Column, Sheet, Test, Turn
from annotator.stats.association import Lift, chi_square, filled, fisher, holm, lift
from annotator.stats.reasons import SET_VALUED
from annotator.studies.models import Study

MONTE_CARLO = Callable[[Sequence[Sequence[int]]], float]
CHI_SQUARE, FISHER, SIMULATED = "Chi-square", "Fisher, exact", "Fisher, Monte Carlo"


@dataclass(frozen=True)
class Cross:
    """Counts by row and column, with the margins: sums of cells, or bugs where a bug has several answers."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], int]
    of_rows: dict[str, int]
    of_columns: dict[str, int]
    n: int
    title: str
    questions: tuple[Question, ...]

    @property
    def is_many(self) -> bool:
        return any(question.is_many for question in self.questions)

    def table(self) -> list[list[int]]:
        return [[self.cells.get((a, b), 0) for b in self.columns] for a in self.rows]

    def lift(self, a: str, b: str) -> Lift:
        return lift(self.cells.get((a, b), 0), self.of_rows[a], self.of_columns[b], self.n)


def cross_of(study: Study, asked: Asked) -> Cross:
    """The numbers of the table, without what is derived from them."""
    reading = Reading(study, asked.labels, level=asked.level)
    if asked.across == REPOSITORY:
        return _by_repository(reading, asked, reading.question(asked.by))
    if asked.by == REPOSITORY:
        return _turned_over(_by_repository(reading, asked, reading.question(asked.across)))
    return _of_two(reading, asked, reading.question(asked.by), reading.question(asked.across))


def _of_two(reading: Reading, asked: Asked, one: Question, other: Question) -> Cross:
    pairs = reading.pairs(one, other)
    names, others = ({code.id: code.name for code in q.codes} for q in (one, other))
    cells = {(names[a], others[b]): n for (a, b), n in pairs.items() if a in names and b in others}
    of_rows, of_columns = _margins(cells)
    n = reading.bugs_of_both(one, other) if one.is_many or other.is_many else sum(cells.values())
    return Cross(
        rows=_order(reading, one, of_rows, asked.order),
        columns=_order(reading, other, of_columns, "codebook" if asked.order == "frequency" else asked.order),
        cells=cells,
        of_rows=of_rows,
        of_columns=of_columns,
        n=n,
        title=f"{one.name} by {other.name.lower()}",
        questions=(one, other),
    )


def _order(reading: Reading, question: Question, totals: dict[str, int], order: str) -> tuple[str, ...]:
    """The categories that the table holds."""
    counts = {code.id: totals.get(code.name, 0) for code in question.codes}
    return tuple(code.name for code in ordered(question, counts, reading.codes(question), order) if code.name in totals)


def _by_repository(reading: Reading, asked: Asked, question: Question) -> Cross:
    names = {code.id: code.name for code in question.codes}
    cells = {(names[code], place): n for (code, place), n in reading.places(question).items() if code in names}
    of_rows, of_columns = _margins(cells)
    if question.is_many:
        of_columns = reading.bugs_by_place(question)
    return Cross(
        rows=_order(reading, question, of_rows, asked.order),
        columns=tuple(sorted(of_columns)),
        cells=cells,
        of_rows=of_rows,
        of_columns=of_columns,
        n=sum(of_columns.values()),
        title=f"{question.name} by repository",
        questions=(question,),
    )


def _turned_over(table: Cross) -> Cross:
    return replace(
        table,
        rows=table.columns,
        columns=table.rows,
        cells={(b, a): n for (a, b), n in table.cells.items()},
        of_rows=table.of_columns,
        of_columns=table.of_rows,
        title=f"Repository by {table.questions[0].name.lower()}",
    )


def _margins(cells: dict[tuple[str, str], int]) -> tuple[dict[str, int], dict[str, int]]:
    rows, columns = Counter[str](), Counter[str]()
    for (a, b), n in cells.items():
        rows[a] += n
        columns[b] += n
    return dict(rows), dict(columns)


def cross(study: Study, asked: Asked, *, whole: bool = False, simulate: MONTE_CARLO | None = None) -> Sheet:
    """In long form: a row for each pair, also of those that never meet.

    `whole` adds what other labels would change; `simulate`, which takes a worker, gives the exact test beyond 2 × 2.
    """
    table = cross_of(study, asked)
    rows = [_row(table, a, b) for a in table.rows for b in table.columns]
    one, other = table.title.split(" by ", 1)
    return Sheet(
        kind=asked.kind,
        title=asked.title or table.title,
        labels=asked.labels,
        n=table.n,
        columns=(
            Column("row", one), Column("column", other.capitalize()), Column("bugs", "Bugs", COUNT),
            Column("row_share", "Share of row", SHARE), Column("column_share", "Share of column", SHARE),
            Column("lift", "Lift", NUMBER), Column("lift_low", "from", NUMBER), Column("lift_high", "to", NUMBER),
        ),
        rows=tuple(rows),
        left_out=left_out(study, asked.labels, list(table.questions), table.n),
        tests=independence(table, simulate),
        turns=turned(study, asked, table) if whole else (),
        notes=("Lift is told from 5 bugs in a cell on; 1 is chance, and its interval is at 95 percent.",),
        is_many=table.is_many,
    )  # fmt: skip


def _row(table: Cross, a: str, b: str) -> tuple[object, ...]:
    n, found = table.cells.get((a, b), 0), table.lift(a, b)
    low, high = found.ci or (None, None)
    return (a, b, n, n / table.of_rows[a], n / table.of_columns[b], found.value, low, high)


def independence(table: Cross, simulate: MONTE_CARLO | None) -> tuple[Test, ...]:
    """Chi-square with Cramér's V, and the exact test: in closed form for 2 × 2, beyond that by simulation."""
    chi = chi_square(table.table(), is_many=table.is_many)
    found = [
        Test(
            CHI_SQUARE, chi.n, chi.statistic, chi.degrees or None, chi.p, size=chi.v, size_is="Cramér's V",
            reason=chi.reason, warning=chi.warning,
        ),
    ]  # fmt: skip
    seen = filled(table.table())
    if chi.statistic is not None and len(seen) == len(seen[0]) == 2:
        found.append(Test(FISHER, chi.n, p=fisher(*seen[0], *seen[1])))
    elif chi.statistic is not None and simulate is not None:
        found.append(Test(SIMULATED, chi.n, p=simulate(seen)))
    elif table.is_many:
        found.append(Test(FISHER, chi.n, reason=SET_VALUED))
    return tuple(found)


def turned(study: Study, asked: Asked, table: Cross) -> tuple[Turn, ...]:
    """Pairs whose lift says attraction, repulsion or neither, and under other labels something else."""
    found = []
    for labels in choices(study, asked.labels):
        other = cross_of(study, replace(asked, labels=labels))
        if not other.n:
            continue
        pairs = sorted(set(table.cells) | set(other.cells))
        changed = [
            (a, b, f"{SIGNS[x]} → {SIGNS[y]}") for a, b in pairs if (x := sign(table, a, b)) != (y := sign(other, a, b))
        ]
        found.append(Turn(labels=labels, n=other.n, changed=tuple(changed)))
    return tuple(found)


SIGNS = {1: "more often than chance", 0: "as chance has it", -1: "less often than chance"}


def sign(table: Cross, a: str, b: str) -> int:
    if a not in table.of_rows or b not in table.of_columns:
        return 0
    return table.lift(a, b).sign


def association(study: Study, asked: Asked) -> Sheet:
    """Every pair of facets: whether they go together, with p corrected for how many pairs were tested."""
    reading = Reading(study, asked.labels, level=asked.level)
    facets = [question for question in reading.questions if question.key != "verdict" and reading.categories(question)]
    tables = [_of_two(reading, asked, one, other) for one, other in combinations(facets, 2)]
    found = [independence(table, None)[0] for table in tables]
    rows = [
        (
            table.questions[0].name, table.questions[1].name, table.n, test.statistic, test.degrees, test.p, adjusted,
            test.size, test.warning or test.reason or "",
        )
        for table, test, adjusted in zip(tables, found, holm([test.p for test in found]), strict=True)
    ]  # fmt: skip
    return Sheet(
        kind=asked.kind,
        title=asked.title or "Which facets go together",
        labels=asked.labels,
        n=max((table.n for table in tables), default=0),
        columns=(
            Column("a", "Facet"), Column("b", "and"), Column("bugs", "Bugs", COUNT), Column("chi_square", "χ²", NUMBER),
            Column("degrees", "df", COUNT), Column("p", "p", PROBABILITY), Column("holm", "p, Holm", PROBABILITY),
            Column("v", "Cramér's V", NUMBER), Column("remark", "Remark"),
        ),
        rows=tuple(rows),
        notes=(
            f"p is corrected for {len([t for t in found if t.p is not None])} tests (Holm 1979).",
            *(f"{code}: {WHY[code]}." for code in WHY if any(code in (t.warning, t.reason) for t in found)),
        ),
        unit="bugs in the largest table",
    )  # fmt: skip
