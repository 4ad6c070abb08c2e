"""Stretches of one rater's answers that come again: what copying would leave behind, and chance as well.

With n answers of which two agree with probability p, some stretch of length L comes twice with a probability of at most
n² pᴸ / 2 (a union bound over pairs of places). A repeat counts as beyond chance where that is below one in a thousand.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, log
from operator import itemgetter

from annotator.labeling.models import Answer, Round
from annotator.labeling.queries import BLIND_IS_OVER
from annotator.studies.models import Study

RARE = 0.001
FEWEST = 20  # bugs: of fewer nothing can be said


@dataclass(frozen=True)
class Repeat:
    """`length` answers from bug `first` on, and again from `second` on."""

    round: str
    length: int
    first: int
    second: int


def repeated_blocks(study: Study) -> list[Repeat]:
    """At most one for each rater and round."""
    rounds = Round.objects.filter(study=study, state__in=BLIND_IS_OVER).order_by("number")
    return [found for round_ in rounds for found in repeats_in(round_)]


def repeats_in(round_: Round) -> Iterator[Repeat]:
    rows = Answer.objects.current().filter(round=round_).order_by("rater", "bug__number", "facet", "slot")
    found = rows.values_list("rater", "bug__number", "category")
    for _, of_rater in groupby(found.iterator(chunk_size=20_000), key=itemgetter(0)):
        bugs, given = [], []
        for bug, of_bug in groupby(of_rater, key=itemgetter(1)):
            bugs.append(bug)
            given.append(hash(tuple(category for _, _, category in of_bug)))
        if place := repeat_beyond_chance(given):
            first, second, length = place
            yield Repeat(round_.name, length, bugs[first], bugs[second])


def repeat_beyond_chance(given: Sequence[int]) -> tuple[int, int, int] | None:
    """Where it begins, where it comes again without overlapping, and how long it is."""
    length = shortest_beyond_chance(given)
    if length is None:
        return None
    seen: dict[int, int] = {}
    for place in range(len(given) - length + 1):
        stretch = tuple(given[place : place + length])
        before = seen.setdefault(hash(stretch), place)
        if place - before >= length and tuple(given[before : before + length]) == stretch:
            return before, place, grown(given, before, place, length)
    return None


def shortest_beyond_chance(given: Sequence[int]) -> int | None:
    n = len(given)
    alike = sum(count**2 for count in Counter(given).values()) / n**2 if n else 1.0
    if n < FEWEST or alike >= 1:
        return None
    length = max(2, ceil(log(2 * RARE / n**2) / log(alike)))
    return length if 2 * length <= n else None


def grown(given: Sequence[int], first: int, second: int, length: int) -> int:
    while second + length < len(given) and first + length < second and given[first + length] == given[second + length]:
        length += 1
    return length
