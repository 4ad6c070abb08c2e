"""A contingency table: how often the first rater said one category and the second another."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

YES, NO = "yes", "no"


@dataclass(frozen=True)
class Table:
    """Counts of bugs by (category of the first rater, category of the second). Zero cells need not be there."""

    cells: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str]]) -> "Table":
        return cls(Counter(pairs))

    @classmethod
    def pooled(cls, tables: Iterable["Table"]) -> "Table":
        total: Counter[tuple[str, str]] = Counter()
        for table in tables:
            total.update(table.cells)
        return cls(total)

    @cached_property
    def n(self) -> int:
        return sum(self.cells.values())

    @cached_property
    def agreements(self) -> int:
        return sum(count for (a, b), count in self.cells.items() if a == b)

    @cached_property
    def first(self) -> Counter[str]:
        """How often the first rater gave each category."""
        return self._margin(0)

    @cached_property
    def second(self) -> Counter[str]:
        return self._margin(1)

    @cached_property
    def used(self) -> frozenset[str]:
        """The categories that anybody gave."""
        return frozenset(self.first) | frozenset(self.second)

    @cached_property
    def chance(self) -> int:
        """Sum of the products of both margins: expected agreement times n squared, exact."""
        return sum(count * self.second[category] for category, count in self.first.items())

    def filled(self) -> Iterator[tuple[str, str, int]]:
        return ((a, b, count) for (a, b), count in self.cells.items() if count)

    def against_rest(self, category: str) -> "Table":
        """The same bugs as yes or no to one category."""
        both = self.cells.get((category, category), 0)
        a, b = self.first[category] - both, self.second[category] - both
        return Table({(YES, YES): both, (YES, NO): a, (NO, YES): b, (NO, NO): self.n - both - a - b})

    def within(self, categories: Iterable[str]) -> "Table":
        """Only the bugs on which both raters stayed within these categories."""
        kept = frozenset(categories)
        return Table({(a, b): count for (a, b), count in self.cells.items() if a in kept and b in kept})

    def square(self, categories: Iterable[str]) -> list[list[int]]:
        """Rows of the first rater, columns of the second, in the order given."""
        order = list(categories)
        return [[self.cells.get((a, b), 0) for b in order] for a in order]

    def _margin(self, side: int) -> Counter[str]:
        margin: Counter[str] = Counter()
        for a, b, count in self.filled():
            margin[(a, b)[side]] += count
        return margin
