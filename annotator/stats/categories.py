"""One category against the rest: its own kappa, and how often both gave it when one did."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotator.stats.cohen import Kappa, cohen
from annotator.stats.sets import SetTable
from annotator.stats.tables import YES, Table


@dataclass(frozen=True)
class OneCategory:
    category: str
    kappa: Kappa
    first: int
    second: int
    both: int

    @property
    def positive_agreement(self) -> float | None:
        """Twice the bugs that both put here over all the votes for it (Spitzer and Fleiss 1974)."""
        votes = self.first + self.second
        return 2 * self.both / votes if votes else None


def per_category(table: Table | SetTable, categories: Iterable[str]) -> list[OneCategory]:
    """One row a category, in the order given; a category that nobody used has no kappa."""
    return [_one(table, category) for category in categories]


def _one(table: Table | SetTable, category: str) -> OneCategory:
    yes_no = table.yes_no(category) if isinstance(table, SetTable) else table.against_rest(category)
    return OneCategory(
        category=category,
        kappa=cohen(yes_no),
        first=yes_no.first[YES],
        second=yes_no.second[YES],
        both=yes_no.cells.get((YES, YES), 0),
    )
