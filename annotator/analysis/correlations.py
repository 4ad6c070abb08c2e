"""How alike repositories are in what goes wrong there: rank correlation of their counts."""

from itertools import combinations
from typing import Any

from annotator.stats.correlation import spearman


def of_repositories(counts: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    """Spearman's rho for each pair of repositories, over the categories in use.

    `counts` is one facet's {category: {repository: bugs}}; a category that one of them lacks counts 0 there.
    """
    repositories = sorted({repository for row in counts.values() for repository in row})
    vectors = {name: [row.get(name, 0) for row in counts.values()] for name in repositories}
    pairs = []
    for a, b in combinations(repositories, 2):
        found = spearman(vectors[a], vectors[b])
        pairs.append({"a": a, "b": b, "rho": found.rho, "p": found.p, "n": found.n, "reason": found.reason})
    return pairs
