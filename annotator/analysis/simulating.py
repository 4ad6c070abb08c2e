"""Fisher's exact test of any table by drawing tables with the same margins. Only for workers: it loads scipy."""

from collections.abc import Sequence

from annotator.stats.shares import SEED

TABLES = 20_000
CLOSE = 1e-7


def monte_carlo(table: Sequence[Sequence[int]], *, seed: int = SEED, tables: int = TABLES) -> float:
    """p of the Freeman-Halton test: how many drawn tables are no likelier than this one, itself among them.

    A table's chance, given its margins, falls with the product of its cells' factorials (Mehta and Patel 1983);
    tables are drawn by Patefield's algorithm (1981). The seed is fixed, so the same table has the same p.
    """
    import numpy
    from scipy.special import gammaln
    from scipy.stats import random_table

    seen = numpy.array(table)
    drawn = random_table(seen.sum(axis=1), seen.sum(axis=0)).rvs(
        size=tables, random_state=numpy.random.default_rng(seed)
    )
    of_seen = gammaln(seen + 1).sum()
    unlikely = gammaln(drawn + 1).sum(axis=(1, 2)) >= of_seen - CLOSE * abs(of_seen)
    return float((1 + unlikely.sum()) / (1 + tables))
