"""Stretches of one rater's answers that come again: what copying would leave behind, and chance as well.

With n answers of which two agree with probability p, some stretch of length L comes twice with a probability of at most
n² pᴸ / 2 (a union bound over pairs of places). A repeat counts as beyond chance where that is below one in a thousand.

A bug's answers are one number here, the sum of a hash for each of them: a million bugs are a few megabytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from annotator.publication.arrays import Array, Arrays, is_as_before
from annotator.publication.writing import Written

RARE = 0.001
FEWEST = 20  # bugs: of fewer nothing can be said
ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # of SplitMix64


@dataclass(frozen=True)
class Repeat:
    """`length` answers from bug `first` on, and again from `second` on."""

    round: str
    length: int
    first: int
    second: int


def repeated_blocks(written: Written) -> list[Repeat]:
    """At most one for each rater and round."""
    read = Arrays(written, "answers", "bug", "round_number", "round", "rater", "facet", "category_uid")
    keys, given = by_bug_and_rater(read)
    return list(repeats_in(keys, given, read.texts("round")))


def by_bug_and_rater(read: Arrays) -> tuple[Array, Array]:
    """Bug, number of the round, its name, and rater, a column each; and what the rater said of the bug there."""
    keys, given = [np.empty((4, 0), dtype=np.int32)], [np.empty(0, dtype=np.uint64)]
    for *key, facet, uid in read:
        found = summed(np.stack(key).astype(np.int32), mixed(mixed(facet) + uid.astype(np.uint64)))
        keys.append(found[0])
        given.append(found[1])
    return summed(np.concatenate(keys, axis=1), np.concatenate(given))  # again: a row group may end within a bug


def summed(keys: Array, values: Array) -> tuple[Array, Array]:
    """Values under the same key, which stand one after the other, together."""
    firsts = np.flatnonzero(~is_as_before(keys, np.full((len(keys), 1), -1)))
    return keys[:, firsts], np.add.reduceat(values, firsts) if len(firsts) else values


def repeats_in(keys: Array, given: Array, rounds: list[str]) -> Iterator[Repeat]:
    bugs, numbers, names, raters = keys
    for number, rater in sorted(set(zip(numbers.tolist(), raters.tolist(), strict=True))):
        mine = np.flatnonzero((numbers == number) & (raters == rater))
        if place := repeat_beyond_chance(given[mine]):
            first, second, length = place
            yield Repeat(rounds[names[mine[0]]], length, int(bugs[mine[first]]), int(bugs[mine[second]]))


def repeat_beyond_chance(given: Array) -> tuple[int, int, int] | None:
    """Where it begins, where it comes again without overlapping, and how long it is."""
    length = shortest_beyond_chance(given)
    if length is None:
        return None
    _, firsts, which = np.unique(stretches(given, length), return_index=True, return_inverse=True)
    before = firsts[which]
    for place in np.flatnonzero(np.arange(len(before)) - before >= length):
        first = int(before[place])
        if np.array_equal(given[first : first + length], given[place : place + length]):
            return first, int(place), grown(given, first, int(place), length)
    return None


def shortest_beyond_chance(given: Array) -> int | None:
    n = len(given)
    alike = sum(count**2 for count in np.unique_counts(given).counts.tolist()) / n**2 if n else 1.0
    if n < FEWEST or alike >= 1:
        return None
    length = max(2, ceil(log(2 * RARE / n**2) / log(alike)))
    return length if 2 * length <= n else None


def stretches(given: Array, length: int) -> Array:
    """A number for each stretch of that length: of two that overlap and cover it, each put together from two halves."""
    found, covered = mixed(given), 1
    while 2 * covered <= length:
        found, covered = mixed(mixed(found[:-covered]) + found[covered:]), 2 * covered
    rest = length - covered
    return mixed(mixed(found[: len(found) - rest]) + found[rest:])


def mixed(values: Array) -> Array:
    """SplitMix64: near numbers come out far from each other."""
    values = values.astype(np.uint64) + np.uint64(ODD[0])
    values = (values ^ (values >> np.uint64(30))) * np.uint64(ODD[1])
    values = (values ^ (values >> np.uint64(27))) * np.uint64(ODD[2])
    return np.asarray(values ^ (values >> np.uint64(31)))


def grown(given: Array, first: int, second: int, length: int) -> int:
    """As far as the two go on alike, and the first does not reach the second."""
    most = min(len(given) - second, second - first)
    others = np.flatnonzero(given[first + length : first + most] != given[second + length : second + most])
    return int(length + others[0]) if len(others) else int(most)
