"""Shares with intervals: of a simple sample, of one whose strata come from unequal pools, of bugs that share a source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from annotator.stats.intervals import Interval, Z
from annotator.stats.proportions import wilson
from annotator.stats.reasons import NO_OVERLAP

SEED, RESAMPLES = 20_230_331, 2_000
"""Of the bootstrap: fixed, so that the same data give the same interval."""


@dataclass(frozen=True)
class Share:
    """A proportion in 0..1 with its 95 percent interval; None and a reason where nothing was counted."""

    n: int
    value: float | None
    ci: Interval | None = None
    reason: str | None = None


def share_of(k: int, n: int) -> Share:
    """k of n, with Wilson's interval, which stays within 0..1 and is never of zero width."""
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n}")
    if n == 0:
        return Share(n=0, value=None, reason=NO_OVERLAP)
    return Share(n=n, value=k / n, ci=wilson(k, n))


def difference(first: Share, second: Share) -> Interval | None:
    """Interval of first minus second, from their Wilson intervals (Newcombe 1998, method 10)."""
    if first.value is None or second.value is None or first.ci is None or second.ci is None:
        return None
    gap = first.value - second.value
    below = sqrt((first.value - first.ci[0]) ** 2 + (second.ci[1] - second.value) ** 2)
    above = sqrt((first.ci[1] - first.value) ** 2 + (second.value - second.ci[0]) ** 2)
    return gap - below, gap + above


@dataclass(frozen=True)
class Part:
    """A stratum: k of n in the sample, and how many its pool holds."""

    k: int
    n: int
    pool: int


def weighted(parts: Sequence[Part]) -> Share:
    """Each stratum's share, weighted by its pool (Cochran 1977, 5.1 and 5.9, with the finite population correction).

    A stratum of which nothing was counted has no share: it is left out of the weights, and there is no interval then,
    nor where a stratum has a single bug.
    """
    seen = [part for part in parts if part.n > 0 and part.pool > 0]
    total = sum(part.pool for part in seen)
    if not total:
        return Share(n=0, value=None, reason=NO_OVERLAP)
    n = sum(part.n for part in seen)
    value = sum(part.pool * part.k / part.n for part in seen) / total
    if len(seen) < len(parts) or min(part.n for part in seen) < 2:
        return Share(n=n, value=value)
    variance = sum((part.pool / total) ** 2 * _variance(part) for part in seen)
    half = Z * sqrt(variance)
    return Share(n=n, value=value, ci=(max(0.0, value - half), min(1.0, value + half)) if half else None)


def _variance(part: Part) -> float:
    p = part.k / part.n
    return max(0.0, 1 - part.n / max(part.pool, part.n)) * p * (1 - p) / (part.n - 1)


Cluster = tuple[tuple[str, int], ...]
"""What the bugs of one pull request are: how many of each category, in order of the categories."""


def by_cluster(clusters: Mapping[Cluster, int], *, seed: int = SEED, resamples: int = RESAMPLES) -> dict[str, Interval]:
    """Percentile intervals of each category's share when whole clusters are drawn anew (Davison and Hinkley 1997, 3.8).

    `clusters` says how many pull requests look like that. Equal ones are drawn together, as one multinomial draw, so
    that a million cost what a thousand do. Only for workers: it loads numpy.
    """
    import numpy

    kinds = sorted(clusters)
    names = sorted({name for kind in kinds for name, _ in kind})
    if not names:
        return {}
    many = sum(clusters.values())
    chances = numpy.array([clusters[kind] for kind in kinds]) / many
    table = numpy.array([[dict(kind).get(name, 0) for name in names] for kind in kinds])
    drawn = numpy.random.default_rng(seed).multinomial(many, chances, size=resamples) @ table
    shares = drawn / drawn.sum(axis=1, keepdims=True)
    low, high = numpy.quantile(shares, [0.025, 0.975], axis=0)
    return {name: (float(low[place]), float(high[place])) for place, name in enumerate(names)}
