"""How alike texts are: TF-IDF and cosine, in a worker alone, since scikit-learn costs seconds and memory to load.

No pair is missed. Two texts of cosine t or more share a word outside each one's most common words whose weights
together stay below t (Bayardo, Ma and Srikant 2007), so that only texts that share a telling word are compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

MOST_WORDS = 100_000  # of the vocabulary: the most frequent ones
KEPT = 10  # pairs of an item: the most alike before it; more only where they tie two groups together
TOLD = 8  # words of a pair
ROWS = 200  # compared at once
PAIRS = 10_000  # worked out at once
CROWDED = 0.03  # share of a block's pairs from which it is quicker to work out all of them
HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)  # what templates tell the writer
WORD = r"(?u)\b[^\W\d_]\w+\b"


@dataclass(frozen=True)
class Pair:
    """By place in the list of texts; `words` that both hold, the most telling first."""

    first: int
    second: int
    similarity: float
    words: tuple[str, ...]


class Groups:
    """Texts that are alike, directly or through others: disjoint sets."""

    def __init__(self, size: int) -> None:
        self.parents = list(range(size))

    def root(self, place: int) -> int:
        while self.parents[place] != place:
            self.parents[place] = place = self.parents[self.parents[place]]
        return place

    def join(self, one: int, other: int) -> bool:
        """False where they were together already."""
        one, other = self.root(one), self.root(other)
        self.parents[max(one, other)] = min(one, other)
        return one != other


def alike(texts: Iterable[str], *, threshold: float, tell: Callable[[], None] = lambda: None) -> Iterator[Pair]:
    """Pairs of cosine `threshold` or more, so many that what belongs together is together. `tell`: it goes on."""
    counted = TfidfVectorizer(
        preprocessor=readable,
        token_pattern=WORD,
        stop_words="english",
        sublinear_tf=True,
        max_features=MOST_WORDS,
        dtype=np.float32,
    )
    try:
        weights = counted.fit_transform(texts).tocsr()
    except ValueError:  # not one word in all of them
        return
    names = counted.get_feature_names_out()
    weights, names = rarest_last(weights, names)
    telling = without_common(weights, threshold)
    groups = Groups(weights.shape[0])
    for start in range(0, weights.shape[0], ROWS):
        found = compared(weights, telling, start, threshold)
        kept = [(i, j, similarity) for i, j, similarity in chosen(found, groups)]
        words = shared_words(weights, names, kept)
        yield from (Pair(j, i, similarity, told) for (i, j, similarity), told in zip(kept, words, strict=True))
        tell()


def readable(text: str) -> str:
    return HIDDEN.sub(" ", text).lower()


def rarest_last(weights: Any, names: Any) -> tuple[Any, Any]:
    """Words in the order of how many texts hold them."""
    order = np.argsort(-np.bincount(weights.indices, minlength=weights.shape[1]), kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    turned = sparse.csr_matrix((weights.data, places[weights.indices], weights.indptr), shape=weights.shape)
    turned.sort_indices()
    return turned, names[order]


def without_common(weights: Any, threshold: float) -> Any:
    """Each row without its most common words, as long as those weigh less than the threshold together."""
    squares = np.cumsum(weights.data.astype(np.float64) ** 2)
    before = np.concatenate(([0.0], squares))[weights.indptr[:-1]]
    so_far = squares - np.repeat(before, np.diff(weights.indptr))
    kept = so_far >= (threshold - 1e-6) ** 2
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))[kept]
    return sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, weights.indices[kept])), shape=weights.shape)


def compared(weights: Any, telling: Any, start: int, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Rows from `start` on with those before them."""
    end = min(start + ROWS, weights.shape[0])
    candidates = (telling[start:end] @ weights[:end].T).tocoo()
    rows, columns = candidates.row + start, candidates.col
    earlier = columns < rows
    rows, columns = rows[earlier], columns[earlier]
    similar = cosines(weights, rows, columns, start, end)
    for place in np.flatnonzero(similar >= threshold):
        yield int(rows[place]), int(columns[place]), min(1.0, float(similar[place]))


def cosines(weights: Any, rows: Any, columns: Any, start: int, end: int) -> Any:
    """Of these pairs: all of the block at once where many are asked for, else one by one."""
    if not len(rows):
        return np.zeros(0)
    some, places = np.unique(columns, return_inverse=True)
    if len(rows) > CROWDED * (end - start) * len(some):
        whole = (weights[start:end] @ weights[some].T).toarray()
        return whole[rows - start, places]
    parts = range(0, len(rows), PAIRS)
    return np.concatenate([dots(weights, rows[at : at + PAIRS], columns[at : at + PAIRS]) for at in parts])


def dots(weights: Any, rows: Any, columns: Any) -> Any:
    return np.asarray(weights[rows].multiply(weights[columns]).sum(axis=1)).ravel()


def chosen(found: Iterable[tuple[int, int, float]], groups: Groups) -> Iterator[tuple[int, int, float]]:
    by_row: dict[int, list[tuple[float, int]]] = {}
    for i, j, similarity in found:
        by_row.setdefault(i, []).append((-similarity, j))
    for i, row in sorted(by_row.items()):
        for place, (negative, j) in enumerate(sorted(row)):
            if groups.join(i, j) or place < KEPT:
                yield i, j, -negative


def shared_words(weights: Any, names: Any, pairs: Sequence[tuple[int, int, float]]) -> Iterator[tuple[str, ...]]:
    if not pairs:
        return
    products = weights[[i for i, _, _ in pairs]].multiply(weights[[j for _, j, _ in pairs]]).tocsr()
    for start, end in zip(products.indptr, products.indptr[1:], strict=False):
        best = np.argsort(-products.data[start:end], kind="stable")[:TOLD]
        yield tuple(str(name) for name in names[products.indices[start:end][best]])
