"""What a reader of a kappa should know about the margins behind it."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from annotator.stats.tables import Table

PREVALENCE: Final = "prevalence"
CONSTANT_RATER: Final = "constant_rater"
DOMINANT: Final = Fraction(2, 3)
"""From this share of all answers on, one category makes kappa sensitive to single bugs."""


@dataclass(frozen=True)
class Dominant:
    category: str
    share: float


def dominant(table: Table) -> Dominant | None:
    """The category with at least two thirds of both raters' answers, where there is one and it is not alone."""
    both = Counter(table.first)
    both.update(table.second)
    if len(both) < 2:
        return None
    category, count = both.most_common(1)[0]
    return Dominant(category, count / (2 * table.n)) if Fraction(count, 2 * table.n) >= DOMINANT else None


def warnings(table: Table) -> list[str]:
    """Codes, in a fixed order."""
    found = [PREVALENCE] if dominant(table) else []
    if len(table.used) > 1 and min(len(table.first), len(table.second)) == 1:
        found.append(CONSTANT_RATER)
    return found
