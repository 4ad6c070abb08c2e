"""Coefficients that take chance from the number of categories, not from the raters' margins."""

from collections import Counter
from math import sqrt

from annotator.stats.cohen import Kappa
from annotator.stats.reasons import NO_OVERLAP, SINGLE_CATEGORY
from annotator.stats.tables import Table


def ac1(table: Table, *, categories: int) -> Kappa:
    """Gwet's AC1 and its large-sample error (Gwet 2008); `categories` is how many the facet has, used or not."""
    n, q = table.n, max(categories, len(table.used))
    if n == 0 or q < 2:
        return Kappa(n=n, value=None, reason=SINGLE_CATEGORY if n else NO_OVERLAP)
    both = Counter(table.first)
    both.update(table.second)
    chance = sum(count * (2 * n - count) for count in both.values())
    span = 4 * n**2 * (q - 1)
    value = (4 * n * (q - 1) * table.agreements - chance) / (span - chance)
    observed, expected = table.agreements / n, chance / span
    share = {category: count / (2 * n) for category, count in both.items()}
    se = _ac1_se(table, share=share, q=q, value=value, expected=expected)
    return Kappa(n=n, value=value, observed=observed, expected=expected, se=se)


def _ac1_se(table: Table, *, share: dict[str, float], q: int, value: float, expected: float) -> float:
    """Delta method: the spread, over the bugs, of what each adds to the coefficient."""
    n = table.n
    parts: list[tuple[int, float]] = []
    for a, b, count in table.filled():
        pull = (1 - (share[a] + share[b])) / (q - 1)
        parts.append((count, (a == b) - (1 - value) * pull))
    mean = sum(count * part for count, part in parts) / n
    variance = sum(count * (part - mean) ** 2 for count, part in parts) / n
    return sqrt(variance / n) / (1 - expected)


def pabak(table: Table, *, categories: int) -> Kappa:
    """Prevalence- and bias-adjusted kappa (Byrt, Bishop and Carlin 1993): chance is one in `categories`."""
    n, q = table.n, max(categories, len(table.used))
    if n == 0 or q < 2:
        return Kappa(n=n, value=None, reason=SINGLE_CATEGORY if n else NO_OVERLAP)
    observed = table.agreements / n
    value = (q * table.agreements - n) / (n * (q - 1))
    se = q / (q - 1) * sqrt(observed * (1 - observed) / n)
    return Kappa(n=n, value=value, observed=observed, expected=1 / q, se=se)
