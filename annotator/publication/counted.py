"""The final labels of a written release, counted by facet."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from annotator.publication.arrays import Array, Arrays, is_as_before
from annotator.publication.writing import Written


@dataclass(frozen=True)
class Finals:
    """By facet: bugs with a row, rows of a bug beyond its first, and rows without a category."""

    bugs: Counter[str] = field(default_factory=Counter)
    doubled: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)


def finals_in(written: Written) -> Finals:
    read, found = Arrays(written, "finals", "bug", "facet", "category_uid"), Finals()
    last = np.full((2, 1), -1)
    for bug, facet, uid in read:
        places = np.stack([bug, facet])
        is_again, last = is_as_before(places, last), places[:, -1:]
        names = read.texts("facet")
        found.bugs.update(by_name(facet[~is_again], names))
        found.doubled.update(by_name(facet[is_again], names))
        found.open.update(by_name(facet[uid == read.words["category_uid"].get("")], names))
    return found


def by_name(places: Array, names: list[str]) -> dict[str, int]:
    return {names[place]: int(n) for place, n in enumerate(np.bincount(places)) if n}
