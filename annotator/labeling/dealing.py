"""Who labels which bug, in which order: pure, repeatable from the round's seed."""

import random
from collections.abc import Sequence
from itertools import combinations


def order_for(bugs: Sequence[int], *, seed: int, rater: str) -> list[int]:
    """The bugs in this rater's own order: no two raters tire on the same bug."""
    shuffled = list(bugs)
    random.Random(f"{seed}:{rater}").shuffle(shuffled)  # noqa: S311  # repeatable, not secret
    return shuffled


def rotating(bugs: Sequence[int], raters: Sequence[str], *, overlap: int, seed: int) -> dict[int, tuple[str, ...]]:
    """Which `overlap` raters label each bug: every group equally often, give or take one."""
    groups = list(combinations(raters, overlap))
    chance = random.Random(f"{seed}:groups")  # noqa: S311  # repeatable, not secret
    chance.shuffle(groups)
    shuffled = list(bugs)
    chance.shuffle(shuffled)
    return {bug: groups[index % len(groups)] for index, bug in enumerate(shuffled)}
