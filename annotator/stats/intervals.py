"""Intervals, two-sided at 95 percent."""

from typing import Final

Z: Final = 1.959963984540054
"""The normal deviate with 2.5 percent above it."""

Interval = tuple[float, float]


def around(value: float | None, se: float | None) -> Interval | None:
    """Value plus and minus 1.96 standard errors, unclipped; none rather than one of zero width."""
    if value is None or not se:
        return None
    return value - Z * se, value + Z * se


def lower_limit_of_all(n: int) -> float:
    """Exact (Clopper-Pearson) lower limit of a proportion when all n of n succeeded, n at least 1."""
    return float(0.025 ** (1 / n))
