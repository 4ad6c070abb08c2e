"""Agreement of any number of raters: Fleiss' kappa and Krippendorff's alpha.

The input is patterns: the votes of one bug, in any order, and how many bugs have exactly these votes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, sqrt
from typing import NamedTuple

from annotator.stats.reasons import NO_OVERLAP, SINGLE_CATEGORY

Patterns = Mapping[tuple[str, ...], int]


@dataclass(frozen=True)
class Coefficient:
    value: float | None
    reason: str | None = None
    se: float | None = None


def fleiss(patterns: Patterns, *, raters: int) -> Coefficient:
    """Fleiss' kappa (1971): every bug needs a vote of each of the raters, else there is none."""
    filled = {votes: count for votes, count in patterns.items() if count}
    if raters < 2 or not filled or any(len(votes) != raters for votes in filled):
        return Coefficient(None, NO_OVERLAP)
    votes_in_all = sum(filled.values()) * raters
    agreeing = sum(count * _agreeing_pairs(votes) for votes, count in filled.items())
    observed = Fraction(agreeing, votes_in_all * (raters - 1))
    expected = Fraction(sum(total**2 for total in _totals(filled).values()), votes_in_all**2)
    if expected == 1:
        return Coefficient(None, SINGLE_CATEGORY)
    return Coefficient(float((observed - expected) / (1 - expected)))


def alpha(patterns: Patterns) -> Coefficient:
    """Krippendorff's alpha for nominal categories; bugs with fewer than two votes pair with nothing."""
    paired = {votes: count for votes, count in patterns.items() if count and len(votes) > 1}
    if not paired:
        return Coefficient(None, NO_OVERLAP)
    totals = _totals(paired)
    n = sum(totals.values())
    chance = n**2 - sum(total**2 for total in totals.values())
    if chance == 0:
        return Coefficient(None, SINGLE_CATEGORY)
    by_size: Counter[int] = Counter()
    for votes, count in paired.items():
        by_size[len(votes)] += count * _differing_pairs(votes)
    seen = sum((Fraction(differing, size - 1) for size, differing in by_size.items()), Fraction(0))
    bugs = [
        Pattern(count, len(votes), _differing_pairs(votes) / (len(votes) - 1), sum(n - totals[vote] for vote in votes))
        for votes, count in paired.items()
    ]
    return Coefficient(
        float(1 - (n - 1) * seen / chance), se=error_of_alpha(bugs, n=n, seen=float(seen), chance=chance)
    )


class Pattern(NamedTuple):
    """One pattern of votes: bugs that have it, votes in it, their distance within, their distance from all votes."""

    bugs: int
    votes: int
    within: float
    from_all: float


def error_of_alpha(bugs: Sequence[Pattern], *, n: int, seen: float, chance: float) -> float:
    """Delta method with bugs drawn at random: alpha is 1 - votes × distance within bugs / distance among all votes."""
    if seen == 0:
        return 0.0
    pulls = [
        (bug.bugs, (seen * bug.votes + n * bug.within) / chance - 2 * n * seen * bug.from_all / chance**2)
        for bug in bugs
    ]
    total = sum(count for count, _ in pulls)
    mean = fsum(count * pull for count, pull in pulls) / total
    return sqrt(fsum(count * (pull - mean) ** 2 for count, pull in pulls))


def _differing_pairs(votes: tuple[str, ...]) -> int:
    return len(votes) * (len(votes) - 1) - _agreeing_pairs(votes)


def _agreeing_pairs(votes: tuple[str, ...]) -> int:
    return sum(times * (times - 1) for times in Counter(votes).values())


def _totals(patterns: Patterns) -> Counter[str]:
    totals: Counter[str] = Counter()
    for votes, count in patterns.items():
        for vote in votes:
            totals[vote] += count
    return totals
