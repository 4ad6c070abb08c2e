"""Which names are nearly the same: by letters alike in Unicode, by case, by spelling, by the same words in another order."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

SAME, SPELLING, WORDS = "same", "spelling", "words"
LEAST = 0.72  # below it two short phrases share little more than a subject
TRIGRAMS, LONG_TRIGRAMS = 0.4, 0.5  # of two names that may be near at all; a slip spoils less of a long one
SHORT = 16
SIZE = 3
NOT_A_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two places in the list of names that was given, the earlier first, with how near they are (0 to 1) and in what."""

    first: int
    second: int
    nearness: float
    why: str


def folded(name: str) -> str:
    """Width, ligatures, case, accents of compatibility, punctuation and blanks make no difference."""
    return " ".join(NOT_A_WORD.split(unicodedata.normalize("NFKC", name).casefold())).strip()


def near_duplicates(names: Sequence[str], *, least: float = LEAST) -> list[Pair]:
    """All pairs that are near, the nearest first."""
    return list(_near_duplicates(tuple(names), least))


@lru_cache(maxsize=64)
def _near_duplicates(names: tuple[str, ...], least: float) -> tuple[Pair, ...]:
    said = [folded(name) for name in names]
    grams = [_grams(text) for text in said]
    found = [
        Pair(first, second, *near)
        for first, second in _candidates(grams)
        if (near := nearness(said[first], said[second], grams[first], grams[second])) and near[0] >= least
    ]
    return tuple(sorted(found, key=lambda pair: (-pair.nearness, pair.first, pair.second)))


def nearest(name: str, names: Sequence[str], *, most: int = 5, least: float = LEAST) -> list[Pair]:
    """What of the names is near to this one; `second` is the place of the near one."""
    said = folded(name)
    grams = _grams(said)
    found = []
    for place, other in enumerate(names):
        text = folded(other)
        near = nearness(said, text, grams, _grams(text))
        if near and near[0] >= least:
            found.append(Pair(-1, place, *near))
    return sorted(found, key=lambda pair: (-pair.nearness, pair.second))[:most]


def nearness(
    first: str, second: str, first_grams: frozenset[str], second_grams: frozenset[str]
) -> tuple[float, str] | None:
    """Of two folded names."""
    if first == second:
        return (1.0, SAME) if first else None
    shared = 2 * len(first_grams & second_grams) / ((len(first_grams) + len(second_grams)) or 1)
    if shared < TRIGRAMS:
        return None
    if sorted(first.split()) == sorted(second.split()):
        return 0.97, WORDS
    shorter, longer = sorted((len(first), len(second)))
    if shorter < LEAST * longer or (shared < LONG_TRIGRAMS and longer > SHORT):
        return shared, WORDS
    return max((1 - spelling_distance(first, second) / longer, SPELLING), (shared, WORDS))


def spelling_distance(first: str, second: str) -> int:
    """Letters to add, drop, change or swap with the next. A column of the table at a time, as the bits of a number.

    Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, 2003.
    """
    if not first:
        return len(second)
    places: dict[str, int] = defaultdict(int)
    for at, letter in enumerate(first):
        places[letter] |= 1 << at
    whole, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    up, down, diagonal, before, distance = whole, 0, 0, 0, len(first)
    for letter in second:
        here = places.get(letter, 0)
        swapped = ((~diagonal & here) << 1) & before
        diagonal = ((((here & up) + up) ^ up) | here | down | swapped) & whole
        right, left = down | (~(diagonal | up) & whole), diagonal & up
        distance += bool(right & last) - bool(left & last)
        right, left = (right << 1) | 1, left << 1
        up, down, before = (left | ~(diagonal | right)) & whole, right & diagonal & whole, here
    return distance


def _grams(text: str) -> frozenset[str]:
    """Runs of three letters, the ends of words counted in: order of words does not matter."""
    padded = (f" {word} " for word in text.split())
    return frozenset(word[at : at + SIZE] for word in padded for at in range(max(1, len(word) - SIZE + 1)))


def _candidates(grams: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs that share one of their rarer runs: any pair that shares enough of all shares one of those."""
    lists: dict[str, list[int]] = defaultdict(list)
    for place, mine in enumerate(grams):
        for gram in mine:
            lists[gram].append(place)
    rarer: dict[str, list[int]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for place, mine in enumerate(grams):
        others: set[int] = set()
        for gram in _rarest(mine, lists):
            others.update(rarer[gram])
            rarer[gram].append(place)
        seen.update((other, place) for other in others)
    return iter(sorted(seen))


def _rarest(mine: Iterable[str], lists: dict[str, list[int]]) -> list[str]:
    """With so many of its runs left out, what shares only those is below TRIGRAMS of any other name."""
    ordered = sorted(mine, key=lambda gram: (len(lists[gram]), gram))
    needed = TRIGRAMS / (2 - TRIGRAMS) * len(ordered)
    return ordered[: len(ordered) - max(1, int(needed)) + 1]
