"""Whether two facets go together: lift of single cells, chi-square of a whole table, Fisher's test, and Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, sqrt
from typing import Final

from annotator.stats.gamma import chi_square_tail
from annotator.stats.intervals import Interval, Z
from annotator.stats.reasons import FEW_EXPECTED, N_BELOW_FLOOR, NO_OVERLAP, SET_VALUED, SINGLE_CATEGORY

FLOOR: Final = 5
"""Bugs that a cell needs before its lift is told."""
CLOSE: Final = 1e-7
"""Tables as likely as this, relatively, are as likely as the one that was seen: rounding must not part them."""


@dataclass(frozen=True)
class Lift:
    """How many times as often two categories meet as they would by chance: 1 is chance, above is attraction."""

    n: int
    value: float | None
    ci: Interval | None = None
    reason: str | None = None

    @property
    def sign(self) -> int:
        """1 where the whole interval lies above chance, -1 where below, else 0."""
        if self.ci is None:
            return 0
        return 1 if self.ci[0] > 1 else -1 if self.ci[1] < 1 else 0


def lift(both: int, first: int, second: int, n: int, *, floor: int = FLOOR) -> Lift:
    """P(A and B) / (P(A) P(B)), with an interval on the log scale.

    The variance of the logarithm is that of the delta method on four multinomial cells:
    1/both - 1/first - 1/second + (2 lift - 1)/n. Fewer than `floor` bugs in the cell give no lift.
    """
    if n == 0 or not first or not second:
        return Lift(n=n, value=None, reason=NO_OVERLAP)
    if both < floor:
        return Lift(n=n, value=None, reason=N_BELOW_FLOOR)
    value = both * n / (first * second)
    variance = 1 / both - 1 / first - 1 / second + (2 * value - 1) / n
    if variance <= 1e-15:
        return Lift(n=n, value=value)
    half = Z * sqrt(variance)
    return Lift(n=n, value=value, ci=(exp(log(value) - half), exp(log(value) + half)))


Counts = Sequence[Sequence[int]]


def filled(table: Counts) -> list[list[int]]:
    """Without the rows and columns that are empty."""
    rows = [row for row in table if any(row)]
    kept = [place for place in range(len(rows[0]) if rows else 0) if any(row[place] for row in rows)]
    return [[row[place] for place in kept] for row in rows]


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's test of independence, and Cramér's V in 0..1; `smallest` is the smallest expected count."""

    n: int
    statistic: float | None
    degrees: int = 0
    p: float | None = None
    v: float | None = None
    smallest: float | None = None
    reason: str | None = None
    warning: str | None = None


def chi_square(table: Counts, *, is_many: bool = False) -> ChiSquare:
    """Of the rows and columns in use. Where a bug has several answers the cells are not independent: refused."""
    seen = filled(table)
    n = sum(map(sum, seen))
    if is_many:
        return ChiSquare(n=n, statistic=None, reason=SET_VALUED)
    if not n:
        return ChiSquare(n=0, statistic=None, reason=NO_OVERLAP)
    if len(seen) < 2 or len(seen[0]) < 2:
        return ChiSquare(n=n, statistic=None, reason=SINGLE_CATEGORY)
    rows, columns = [sum(row) for row in seen], [sum(column) for column in zip(*seen, strict=True)]
    expected = [[a * b / n for b in columns] for a in rows]
    statistic = sum(
        (k - e) ** 2 / e for seen_, due in zip(seen, expected, strict=True) for k, e in zip(seen_, due, strict=True)
    )
    degrees = (len(rows) - 1) * (len(columns) - 1)
    smallest = min(rows) * min(columns) / n
    return ChiSquare(
        n=n,
        statistic=statistic,
        degrees=degrees,
        p=chi_square_tail(statistic, degrees),
        v=sqrt(statistic / (n * (min(len(rows), len(columns)) - 1))),
        smallest=smallest,
        warning=FEW_EXPECTED if is_sparse(rows, columns, n) else None,
    )


def is_sparse(rows: Sequence[int], columns: Sequence[int], n: int) -> bool:
    """Cochran's rule (1954): an expected count below 1, or more than a fifth of them below 5."""
    expected = [a * b / n for a in rows for b in columns]
    return min(expected) < 1 or sum(e < 5 for e in expected) > len(expected) / 5


def fisher(a: int, b: int, c: int, d: int) -> float:
    """Two-sided exact p of [[a, b], [c, d]]: tables of the same margins that are no likelier than this one."""
    row, column, n = a + b, a + c, a + b + c + d
    whole = _choose(n, column)

    def chance(k: int) -> float:
        return exp(_choose(row, k) + _choose(n - row, column - k) - whole)

    seen = chance(a)
    possible = map(chance, range(max(0, column + row - n), min(row, column) + 1))
    return min(1.0, sum(p for p in possible if p <= seen * (1 + CLOSE)))


def _choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjusted for that many tests, in the order given (Holm 1979); a test that was not made stays None."""
    known = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted
