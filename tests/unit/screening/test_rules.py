"""What votes decide by themselves, and in which order candidates are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.screening.dealing import groups, order_for
from annotator.screening.models import Screening
from annotator.screening.rules import decided, ground

IN, OUT = "include", "exclude"
ITEMS = {pk: f"github.com/tessera/tessera#{pk}" for pk in range(1, 41)}


@pytest.mark.parametrize(
    ("rule", "includes", "excludes", "wanted", "found"),
    [
        ("unanimous", 2, 0, 2, (IN, "unanimous")),
        ("unanimous", 0, 2, 2, (OUT, "unanimous")),
        ("unanimous", 1, 1, 2, None),
        ("unanimous", 2, 1, 3, None),
        ("unanimous", 1, 0, 2, None),
        ("unanimous", 1, 0, 1, (IN, "single")),
        ("majority", 2, 1, 3, (IN, "majority")),
        ("majority", 1, 2, 3, (OUT, "majority")),
        ("majority", 2, 0, 3, (IN, "majority")),
        ("majority", 1, 1, 2, None),
        ("majority", 2, 2, 4, None),
        ("discussed", 3, 0, 3, (IN, "unanimous")),
        ("discussed", 2, 1, 3, None),
        ("discussed", 1, 2, 3, (OUT, "majority")),
        ("discussed", 1, 1, 2, None),
        ("discussed", 0, 0, 3, None),
        ("unanimous", 0, 0, 0, None),
    ],
)
def test_a_rule_decides(rule, includes, excludes, wanted, found):
    assert decided(rule, includes=includes, excludes=excludes, wanted=wanted) == found


@given(st.sampled_from(Screening.Rule.values), st.integers(0, 6), st.integers(0, 6), st.integers(0, 3))
def test_a_decision_is_never_against_the_votes(rule, includes, excludes, missing):
    found = decided(rule, includes=includes, excludes=excludes, wanted=includes + excludes + missing)
    if found:
        mine, others = (includes, excludes) if found[0] == IN else (excludes, includes)
        assert mine > others
        assert mine > missing or rule == "unanimous"
        assert (found[1] in ("single", "unanimous")) == (others == missing == 0)


def test_the_reason_is_what_most_cite_and_of_several_the_first_in_order():
    assert ground([7, 8, 8], [7, 8]) == 8
    assert ground([8, 7], [7, 8]) == 7
    assert ground([], [7, 8]) is None


def test_every_reviewer_has_an_order_of_their_own_that_can_be_drawn_again():
    alice, bob = (order_for(ITEMS, seed=1, reviewer=name) for name in ("alice", "bob"))
    assert sorted(alice) == sorted(bob) == sorted(ITEMS)
    assert alice != bob
    backwards = dict(reversed(ITEMS.items()))
    assert order_for(backwards, seed=1, reviewer="alice") == alice
    assert order_for(ITEMS, seed=2, reviewer="alice") != alice


def test_rotating_groups_meet_equally_often():
    found = groups(ITEMS, ["cleo", "alice", "bob"], overlap=2, seed=3)
    pairs = list(found.values())
    assert {len(pair) for pair in pairs} == {2}
    assert {pairs.count(pair) for pair in set(pairs)} == {13, 14}
    assert found == groups(dict(reversed(ITEMS.items())), ["bob", "cleo", "alice"], overlap=2, seed=3)
