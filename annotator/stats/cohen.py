"""Cohen's kappa, unweighted and weighted, with the large-sample standard error of Fleiss, Cohen and Everitt (1969).

Everything up to the last division is integer arithmetic on the counts: a variance that is zero is exactly zero,
and neither the order of the cells nor the number of bugs can move a digit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from annotator.stats.intervals import Interval, around
from annotator.stats.reasons import NO_OVERLAP, SINGLE_CATEGORY
from annotator.stats.tables import Table


@dataclass(frozen=True)
class Kappa:
    """A kappa with what it is made of; value None comes with a reason."""

    n: int
    value: float | None
    reason: str | None = None
    observed: float | None = None
    expected: float | None = None
    se: float | None = None

    @property
    def ci(self) -> Interval | None:
        return around(self.value, self.se)


def cohen(table: Table) -> Kappa:
    """Unweighted kappa of two raters (Cohen 1960)."""
    n = table.n
    if n == 0:
        return Kappa(n=0, value=None, reason=NO_OVERLAP)
    observed, expected = table.agreements / n, table.chance / n**2
    if table.chance == n**2:
        return Kappa(n=n, value=None, reason=SINGLE_CATEGORY, observed=observed, expected=expected)
    value = (n * table.agreements - table.chance) / (n**2 - table.chance)
    return Kappa(n=n, value=value, observed=observed, expected=expected, se=_se(table))


def _se(table: Table) -> float:
    """Formula 13 of the 1969 paper, multiplied out over n and (n² minus chance)."""
    n, chance = table.n, table.chance
    beyond = n**2 - chance
    missed = n * (n - table.agreements)
    spread = 0
    for a, b, count in table.filled():
        if a == b:
            spread += count * (n * beyond - (table.first[a] + table.second[a]) * missed) ** 2
        else:
            spread += count * (missed * (table.second[a] + table.first[b])) ** 2
    centre = n**2 * (beyond - missed) - chance * missed
    return sqrt((n * spread - centre**2) / (n * beyond**4))


def weighted(table: Table, *, order: Sequence[str], power: int) -> Kappa:
    """Weighted kappa (Cohen 1968) over all categories of the order, used or not: power 1 linear, 2 quadratic.

    Bugs with an answer outside the order (not applicable) have no distance and are left out; n says how many stayed.
    """
    ordered = table.within(order)
    n = ordered.n
    if n == 0:
        return Kappa(n=0, value=None, reason=NO_OVERLAP)
    place = {category: position for position, category in enumerate(order)}
    seen = n * sum(count * abs(place[a] - place[b]) ** power for a, b, count in ordered.filled())
    chance = sum(
        x * y * abs(place[a] - place[b]) ** power for a, x in ordered.first.items() for b, y in ordered.second.items()
    )
    if chance == 0:
        return Kappa(n=n, value=None, reason=SINGLE_CATEGORY)
    span = max(len(order) - 1, 1) ** power * n**2
    return Kappa(
        n=n,
        value=(chance - seen) / chance,
        observed=1 - seen / span,
        expected=1 - chance / span,
        se=_weighted_se(ordered, place, power),
    )


def _weighted_se(table: Table, place: dict[str, int], power: int) -> float:
    """The 1969 formula for any weights, in distances: exact until the root, like the unweighted one."""
    n = table.n

    def distance(a: str, b: str) -> int:
        return int(abs(place[a] - place[b]) ** power)

    rows = {a: sum(y * distance(a, b) for b, y in table.second.items()) for a in table.used}
    columns = {b: sum(x * distance(a, b) for a, x in table.first.items()) for b in table.used}
    chance = sum(x * rows[a] for a, x in table.first.items())
    seen = n * sum(count * distance(a, b) for a, b, count in table.filled())
    spread = sum(
        count * (n * distance(a, b) * chance - (rows[a] + columns[b]) * seen) ** 2 for a, b, count in table.filled()
    )
    return sqrt((n * spread - (chance * seen) ** 2) / (n * chance**4))
