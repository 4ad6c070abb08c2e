"""Names that are nearly the same are pointed out, whatever separates them."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.codebook.similar import SAME, SPELLING, WORDS, folded, near_duplicates, nearest, spelling_distance


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("crash: test failure", "Crash：test failure", SAME),  # a full-width colon
        ("ﬁle not found", "File  not found", SAME),  # a ligature
        ("crash?", "？crash", SAME),
        ("tensor type confution", "tensor type confusion", SPELLING),
        ("tesnor type", "tensor type", SPELLING),  # two letters swapped
        ("utiltiy", "utility", SPELLING),
        ("wrong API: missing API", "missing API: wrong API", WORDS),
        ("segmentation fault", "crash: segmentation fault", WORDS),
    ],
)
def test_near_names_are_found_and_it_is_said_in_what(first, second, why):
    (pair,) = near_duplicates([first, second])
    assert (pair.first, pair.second, pair.why) == (0, 1, why)
    assert 0.7 < pair.nearness <= 1


@pytest.mark.parametrize(
    ("first", "second"),
    [("crash", "hang"), ("build failure", "wrong code"), ("tensor shape", "numerical issue"), ("", ""), ("?", "!")],
)
def test_others_are_not(first, second):
    assert near_duplicates([first, second]) == []


def test_the_nearest_come_first():
    names = ["memory leak", "mem leak", "hang", "Memory leak!"]
    assert [names[pair.second] for pair in nearest("memory  leak", names, most=2)] == ["memory leak", "Memory leak!"]


def test_a_name_of_signs_alone_is_near_to_nothing():
    assert folded("---") == ""
    assert nearest("---", ["---", "crash"]) == []


words = st.text(alphabet="abc", max_size=9)


@given(words, words)
def test_distance_is_that_of_the_table(first, second):
    rows = [[i + j if not i * j else 0 for j in range(len(second) + 1)] for i in range(len(first) + 1)]
    for i, a in enumerate(first, 1):
        for j, b in enumerate(second, 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, first[i - 2]) == (second[j - 2], b):
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    assert spelling_distance(first, second) == rows[-1][-1]


@given(st.lists(st.text(max_size=12), max_size=8))
def test_every_pair_is_given_once_and_in_order(names):
    pairs = near_duplicates(names)
    assert len({(pair.first, pair.second) for pair in pairs}) == len(pairs)
    assert all(pair.first < pair.second < len(names) for pair in pairs)
    assert [pair.nearness for pair in pairs] == sorted((pair.nearness for pair in pairs), reverse=True)


def test_a_thousand_codes_take_a_moment():
    chance = random.Random(4)  # repeatable, not secret
    parts = [
        "tensor",
        "shape",
        "type",
        "crash",
        "memory",
        "leak",
        "wrong",
        "code",
        "state",
        "missing",
        "check",
        "device",
        "kernel",
        "graph",
        "loss",
    ]
    codes = set()
    while len(codes) < 1000:
        code = list(" ".join(chance.sample(parts, chance.randint(2, 5))))
        at = chance.randrange(len(code))
        code[at] = chance.choice("aeiou")
        codes.add("".join(code))
    start = time.perf_counter()
    assert near_duplicates(sorted(codes))
    assert time.perf_counter() - start < 5  # about two seconds where all are made of the same few words
