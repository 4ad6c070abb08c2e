"""Spearman's rank correlation with ties, and its p-value."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from annotator.stats.reasons import NO_OVERLAP, SINGLE_CATEGORY
from annotator.stats.student import two_sided


@dataclass(frozen=True)
class Correlation:
    """rho in -1..1 and the two-sided p of Student's t with n - 2 degrees; None where a series is constant or too short."""

    n: int
    rho: float | None
    p: float | None = None
    reason: str | None = None


def twice_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank from 1, ties sharing their mean: twice, so that it stays a whole number."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = start + end + 1
        start = end
    return ranks


def spearman(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Pearson's correlation of the ranks."""
    n = len(x)
    if n != len(y):
        raise ValueError(f"Two series of one length are needed, not {n} and {len(y)}.")
    if n < 2:
        return Correlation(n=n, rho=None, reason=NO_OVERLAP)
    a, b = ([rank - (n + 1) for rank in twice_ranks(series)] for series in (x, y))
    spread = sum(i * i for i in a) * sum(j * j for j in b)
    if spread == 0:
        return Correlation(n=n, rho=None, reason=SINGLE_CATEGORY)
    together = sum(i * j for i, j in zip(a, b, strict=True))
    if together**2 == spread:
        return Correlation(n=n, rho=1.0 if together > 0 else -1.0, p=0.0 if n > 2 else None)
    rho = together / sqrt(spread)
    return Correlation(n=n, rho=rho, p=two_sided(rho * sqrt((n - 2) / (1 - rho * rho)), n - 2))


BANDS: Final = ((0.8, "very strong"), (0.6, "strong"), (0.4, "moderate"), (0.0, "weak or none"))
"""From which size of rho on, and how it is called (Chen et al. 2023, figure 6)."""


def band(rho: float) -> str:
    """In words; the sign is said by the number."""
    return next(word for least, word in BANDS if abs(rho) >= least)
