"""Intervals of a proportion, two-sided at 95 percent."""

import math

from annotator.stats.intervals import Interval, Z


def wilson(successes: int, n: int) -> Interval | None:
    """Wilson's score interval (1927), within 0 and 1; None for n = 0."""
    if n == 0:
        return None
    share = successes / n
    spread = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    centre, scale = share + Z * Z / (2 * n), 1 + Z * Z / n
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == n else (centre + spread) / scale
    return low, high
