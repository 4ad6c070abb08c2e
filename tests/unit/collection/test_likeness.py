"""Near-duplicates among texts: none is missed, and what belongs together is together."""

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from annotator.collection import likeness
from annotator.collection.likeness import Groups, alike, readable

WORDS = [f"word{place}" for place in range(12)] + ["tensor", "loss", "nan"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=14)


def every_pair(texts: list[str], threshold: float) -> dict[tuple[int, int], float]:
    """The plain way: all against all."""
    counted = TfidfVectorizer(
        preprocessor=readable, token_pattern=likeness.WORD, stop_words="english", sublinear_tf=True
    )
    try:
        weights = counted.fit_transform(texts).toarray()
    except ValueError:
        return {}
    cosines = weights @ weights.T
    found = np.argwhere(np.triu(cosines >= threshold, 1))
    return {(int(i), int(j)): float(cosines[i, j]) for i, j in found}


def groups(size: int, pairs) -> set[frozenset[int]]:
    made = Groups(size)
    for i, j in pairs:
        made.join(i, j)
    by_root: dict[int, set[int]] = {}
    for place in range(size):
        by_root.setdefault(made.root(place), set()).add(place)
    return {frozenset(group) for group in by_root.values() if len(group) > 1}


@given(TEXTS, st.sampled_from([0.3, 0.55, 0.7, 0.95]))
@settings(max_examples=60)
def test_no_pair_is_missed_and_none_is_invented(texts, threshold):
    expected = every_pair(texts, threshold + 1e-4)
    allowed = every_pair(texts, threshold - 1e-4)
    found = {(pair.first, pair.second): pair.similarity for pair in alike(texts, threshold=threshold)}
    assert expected.keys() <= found.keys() <= allowed.keys()
    assert all(found[key] == pytest.approx(allowed[key], abs=1e-4) for key in found)


def test_many_of_a_kind_give_few_pairs_and_one_group(monkeypatch):
    monkeypatch.setattr(likeness, "KEPT", 2)
    texts = [f"bump library from {n} to {n + 1}" for n in range(60)] + ["something else entirely"] * 2
    pairs = list(alike(texts, threshold=0.7))
    assert len(pairs) <= 2 * 62
    assert groups(62, [(pair.first, pair.second) for pair in pairs]) == {frozenset(range(60)), frozenset((60, 61))}


def test_groups_are_those_of_all_pairs_though_few_are_kept(monkeypatch):
    monkeypatch.setattr(likeness, "KEPT", 1)
    chance = random.Random(4)
    texts = [" ".join(chance.choices(WORDS, k=8)) for _ in range(150)]
    pairs = [(pair.first, pair.second) for pair in alike(texts, threshold=0.8)]
    assert groups(150, pairs) == groups(150, every_pair(texts, 0.8))


def test_the_words_that_tell_most_come_first():
    texts = [
        "Fix wrong gradient of cholesky in the batch",
        "[1.9] Fix wrong gradient of cholesky in the batch",
        "Fix the docs in the readme",
        "Fix the batch of docs in the build",
    ]
    (pair,) = alike(texts, threshold=0.8)
    assert (pair.first, pair.second) == (0, 1)
    assert set(pair.words[:3]) == {"wrong", "gradient", "cholesky"}
    assert not {"the", "of", "in"} & set(pair.words)


def test_what_a_template_hides_does_not_count():
    texts = ["<!-- Tell us what\nyou changed and why --> alpha", "<!-- Tell us what\nyou changed and why --> beta"]
    assert list(alike(texts, threshold=0.3)) == []


@pytest.mark.parametrize("texts", [[], [""], ["", "  "], ["1 2 3", "4"], ["alone"]])
def test_nothing_to_compare_is_no_pair(texts):
    assert list(alike(texts, threshold=0.5)) == []


def test_two_thousand_take_seconds_and_tell_that_they_go_on():
    """A twentieth of the time that ten thousand may take, a shared template and many bots' among them."""
    chance = random.Random(1)
    words = [f"w{''.join(chance.choices('abcdefghij', k=5))}" for _ in range(20_000)]
    shares = [1 / (place + 1) for place in range(len(words))]
    template = " ".join(chance.choices(words, shares, k=80))
    texts = [
        f"Bump library {n % 7} {template}"
        if n % 5 == 0
        else f"{template} {' '.join(chance.choices(words, shares, k=90))}"
        for n in range(2_000)
    ]
    told: list[None] = []
    begun = time.process_time()
    pairs = list(alike(texts, threshold=0.7, tell=lambda: told.append(None)))
    assert time.process_time() - begun < 12
    assert len(told) == 2_000 / likeness.ROWS
    assert 400 <= len(pairs) <= 2_000 * likeness.KEPT
