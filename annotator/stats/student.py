"""The tail of Student's t, by the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8)."""

from math import exp, lgamma, log, log1p
from typing import Final

TINY: Final = 1e-300
ENOUGH: Final = 1e-16


def two_sided(t: float, degrees: int) -> float:
    """The chance of a t at least this far from zero on either side."""
    squared = t * t
    return _incomplete_beta(degrees / 2, 0.5, squared / (degrees + squared), degrees / (degrees + squared))


def _incomplete_beta(a: float, b: float, rest: float, x: float) -> float:
    """Regularised, at x; `rest` is 1 - x, given apart so that a small one keeps its digits."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * (log(rest) if x > 0.5 else log1p(-x)))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's way to evaluate the continued fraction."""
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < ENOUGH:
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
