"""The upper tail of chi-square, by the incomplete gamma function (Abramowitz and Stegun 6.5.29 and 6.5.31)."""

from math import exp, lgamma, log
from typing import Final

TINY: Final = 1e-300
ENOUGH: Final = 1e-16
MOST: Final = 10_000


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The chance of a chi-square at least this large."""
    if degrees < 1 or statistic < 0:
        raise ValueError(f"chi-square {statistic} with {degrees} degrees of freedom")
    a, x = degrees / 2, statistic / 2
    if x == 0:
        return 1.0
    front = exp(a * log(x) - x - lgamma(a))
    return 1 - front * _series(a, x) if x < a + 1 else front * _fraction(a, x)


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    for k in range(1, MOST):
        term *= x / (a + k)
        total += term
        if term < total * ENOUGH:
            break
    return total


def _fraction(a: float, x: float) -> float:
    """Lentz's way to evaluate the continued fraction."""
    b = x + 1 - a
    c, d = 1 / TINY, 1 / b
    value = d
    for k in range(1, MOST):
        term = -k * (k - a)
        b += 2
        d = 1 / _off_zero(term * d + b)
        c = _off_zero(b + term / c)
        value *= d * c
        if abs(d * c - 1) < ENOUGH:
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
