"""Who reads which candidate, in which order: pure, repeatable from the screening's seed."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from annotator.stats.draws import lot


def order_for(identities: Mapping[int, str], *, seed: int, reviewer: str) -> list[int]:
    """The candidates in this reviewer's own order: no two reviewers tire on the same one."""
    return sorted(identities, key=lambda candidate: lot(seed, f"{reviewer}\n{identities[candidate]}"))


def groups(
    identities: Mapping[int, str], reviewers: Sequence[str], *, overlap: int, seed: int
) -> dict[int, tuple[str, ...]]:
    """Which `overlap` reviewers read each candidate: every group equally often, give or take one."""
    found = list(combinations(sorted(reviewers), overlap))
    drawn = sorted(identities, key=lambda candidate: lot(seed, f"groups\n{identities[candidate]}"))
    return {candidate: found[place % len(found)] for place, candidate in enumerate(drawn)}
