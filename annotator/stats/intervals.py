"""Intervals, two-sided at 95 percent unless told otherwise."""

from math import sqrt
from typing import Final

Z: Final = 1.959963984540054
"""The normal deviate with 2.5 percent above it."""

Interval = tuple[float, float]


def around(value: float | None, se: float | None) -> Interval | None:
    """Value plus and minus 1.96 standard errors, unclipped; none rather than one of zero width."""
    if value is None or not se:
        return None
    return value - Z * se, value + Z * se


def wilson(successes: int, n: int, *, z: float = Z) -> Interval | None:
    """Wilson's score interval of a proportion."""
    if n == 0:
        return None
    share, square = successes / n, z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def lower_limit_of_all(n: int) -> float:
    """Exact (Clopper-Pearson) lower limit of a proportion when all n of n succeeded, n at least 1."""
    return float(0.025 ** (1 / n))
