"""Agreement where a bug can have several answers: alpha over a distance between sets, exact matches, and per category."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum

from annotator.stats.many import Coefficient, Pattern, error_of_alpha
from annotator.stats.reasons import NO_OVERLAP, SINGLE_CATEGORY
from annotator.stats.tables import NO, YES, Table

Answers = frozenset[str]
SetPatterns = Mapping[tuple[Answers, ...], int]
Distance = Callable[[Answers, Answers], float]


def jaccard(a: Answers, b: Answers) -> float:
    """One minus the shared over all answers; two empty sets are equal."""
    return 1 - len(a & b) / len(a | b) if a or b else 0.0


def masi(a: Answers, b: Answers) -> float:
    """Jaccard's likeness times 1 where equal, 2/3 where one holds the other, 1/3 where they overlap (Passonneau 2006)."""
    if a == b:
        return 0.0
    weight = 2 / 3 if a <= b or b <= a else 1 / 3
    return 1 - weight * (1 - jaccard(a, b))


def alpha_over(patterns: SetPatterns, *, distance: Distance) -> Coefficient:
    """Krippendorff's alpha with any distance between two raters' sets of answers."""
    paired = {votes: count for votes, count in patterns.items() if count and len(votes) > 1}
    if not paired:
        return Coefficient(None, NO_OVERLAP)
    totals: Counter[Answers] = Counter()
    for votes, count in paired.items():
        for vote in votes:
            totals[vote] += count
    if len(totals) == 1:
        return Coefficient(None, SINGLE_CATEGORY)
    n = sum(totals.values())
    seen = fsum(count * _within(votes, distance) for votes, count in paired.items())
    from_all = {a: fsum(y * distance(a, b) for b, y in totals.items()) for a in totals}
    chance = fsum(x * from_all[a] for a, x in totals.items())
    bugs = [
        Pattern(count, len(votes), _within(votes, distance), fsum(from_all[vote] for vote in votes))
        for votes, count in paired.items()
    ]
    return Coefficient(1 - (n - 1) * seen / chance, se=error_of_alpha(bugs, n=n, seen=seen, chance=chance))


def _within(votes: tuple[Answers, ...], distance: Distance) -> float:
    return fsum(distance(a, b) for a in votes for b in votes) / (len(votes) - 1)


@dataclass(frozen=True)
class SetTable:
    """Counts of bugs by (answers of the first rater, answers of the second)."""

    cells: Mapping[tuple[Answers, Answers], int]

    @property
    def n(self) -> int:
        return sum(self.cells.values())

    @property
    def exact_match(self) -> float | None:
        """The share of bugs on which both gave exactly the same answers."""
        return sum(count for (a, b), count in self.cells.items() if a == b) / self.n if self.n else None

    @property
    def used(self) -> frozenset[str]:
        return frozenset(answer for pair in self.cells for answers in pair for answer in answers)

    def alpha(self, distance: Distance) -> Coefficient:
        patterns: dict[tuple[Answers, ...], int] = dict(self.cells.items())
        return alpha_over(patterns, distance=distance)

    def yes_no(self, category: str) -> Table:
        """The same bugs as yes or no to one category."""
        cells: Counter[tuple[str, str]] = Counter()
        for (a, b), count in self.cells.items():
            cells[YES if category in a else NO, YES if category in b else NO] += count
        return Table(cells)

    @classmethod
    def pooled(cls, tables: list["SetTable"]) -> "SetTable":
        total: Counter[tuple[Answers, Answers]] = Counter()
        for table in tables:
            total.update(table.cells)
        return cls(total)
