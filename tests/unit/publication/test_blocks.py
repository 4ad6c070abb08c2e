"""Stretches that come again, beyond chance or not."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.publication.batches import plain
from annotator.publication.blocks import (
    Repeat,
    repeat_beyond_chance,
    repeated_blocks,
    shortest_beyond_chance,
    stretches,
)
from annotator.publication.columns import ANSWERS, Table
from annotator.publication.writing import Written, write_table

NAMES = [column.name for column in ANSWERS]
BLANK = [None if column.kind != "text" else "" for column in ANSWERS]


def answer(bug, rater, uid, facet="cause", round_=1):
    given = {"bug": bug, "rater": rater, "facet": facet, "category_uid": uid}
    return dict(zip(NAMES, BLANK, strict=True)) | given | {"round": f"Round {round_}", "round_number": round_}


def release_of(folder, *batches):
    columns = (
        [plain(list(values)) for values in zip(*(row.values() for row in batch), strict=True)] for batch in batches
    )
    return Written(folder, [write_table(Table("answers", ANSWERS, columns), folder)], [], {})


def at_random(n, seed=5, of=8):
    chosen = random.Random(seed)
    return [chosen.randrange(of) for _ in range(n)]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.integers(1, 20))
def test_stretches_are_alike_where_their_answers_are(given, length):
    numbers = stretches(np.array(given, dtype=np.uint64), length).tolist() if length <= len(given) else []
    cut = [tuple(given[place : place + length]) for place in range(len(given) - length + 1)]
    assert len(numbers) == len(cut)
    assert len(set(numbers)) == len(set(cut))
    assert len(set(zip(numbers, cut, strict=True))) == len(set(cut))


def test_a_copied_stretch_is_found_in_its_whole_length():
    given = np.array(at_random(400))
    given[300:340] = given[20:60]
    given[340] = (given[60] + 1) % 8
    given[299] = (given[19] + 1) % 8
    assert repeat_beyond_chance(given) == (20, 300, 40)


def test_one_stretch_after_itself_does_not_overlap_it():
    copied = at_random(60)
    assert repeat_beyond_chance(np.array([*copied, *copied, *at_random(30, seed=6)])) == (0, 60, 60)


@pytest.mark.parametrize("given", [at_random(400), [1] * 400, at_random(19), []])
def test_what_chance_does_is_no_copy(given):
    assert repeat_beyond_chance(np.array(given, dtype=np.int64)) is None


def test_the_shortest_is_rarer_than_one_in_a_thousand():
    length = shortest_beyond_chance(np.array([0, 1] * 500))
    assert 1000**2 * 0.5**length / 2 < 0.001 <= 1000**2 * 0.5 ** (length - 1) / 2


def test_a_raters_answers_to_a_bug_count_together(tmp_path):
    """Each of two facets comes again by itself in the second round; only in the first do both."""
    one, other = at_random(300, seed=1), at_random(300, seed=2)
    again = one[:100] + one[:100] + one[200:]
    rows = []
    for bug in range(1, 301):
        at = bug - 1
        rows += [answer(bug, "alice", f"c{again[at]}"), answer(bug, "alice", f"p{again[at]}", "part")]
        rows += [answer(bug, "bob", f"c{again[at]}"), answer(bug, "bob", f"p{other[at]}", "part")]
        rows += [answer(bug, "alice", f"c{one[at]}", round_=2), answer(bug, "alice", f"p{other[at]}", "part", round_=2)]
    assert repeated_blocks(release_of(tmp_path, rows)) == [Repeat("Round 1", 100, 1, 101)]


def test_a_bug_whose_answers_are_in_two_row_groups_is_one(tmp_path):
    given = at_random(80)
    rows = [
        answer(bug, "alice", f"{facet}{uid}", facet)
        for bug, uid in enumerate(given[:40] + given[:40], 1)
        for facet in ("cause", "part")
    ]
    cut = [rows[at : at + 3] for at in range(0, len(rows), 3)]
    assert repeated_blocks(release_of(tmp_path, *cut)) == [Repeat("Round 1", 40, 1, 41)]


def test_a_release_without_answers_repeats_nothing(tmp_path):
    assert repeated_blocks(Written(tmp_path, [], [], {})) == []
