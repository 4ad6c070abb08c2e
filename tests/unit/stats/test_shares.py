"""Shares and their intervals, against statsmodels and against drawing again."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from annotator.stats.shares import Part, by_cluster, difference, share_of, weighted


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_statsmodels(drawn):
    k, n = drawn
    found = share_of(k, n)
    assert found.value == k / n
    assert found.ci == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)
    assert 0 <= found.ci[0] <= found.value <= found.ci[1] <= 1


def test_share_of_nothing_is_undefined_and_says_why():
    assert (share_of(0, 0).value, share_of(0, 0).ci, share_of(0, 0).reason) == (None, None, "no_overlap")
    with pytest.raises(ValueError, match="6 of 5"):
        share_of(6, 5)


counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts)
def test_interval_of_a_difference_is_that_of_statsmodels(first, second):
    expected = confint_proportions_2indep(*first, *second, method="newcomb")
    assert difference(share_of(*first), share_of(*second)) == pytest.approx(expected, abs=1e-9)


def test_difference_from_nothing_is_undefined():
    assert difference(share_of(0, 0), share_of(1, 2)) is None


def test_pool_weighted_share_is_cochrans():
    """Worked by hand: 0.8 × 0.1 + 0.2 × 0.5; each part's variance shrinks by its share of the pool that was read."""
    found = weighted([Part(k=10, n=100, pool=800), Part(k=50, n=100, pool=200)])
    assert found.value == pytest.approx(0.18)
    variance = 0.64 * (1 - 100 / 800) * 0.1 * 0.9 / 99 + 0.04 * (1 - 100 / 200) * 0.25 / 99
    half = 1.959963984540054 * variance**0.5
    assert found.ci == pytest.approx((0.18 - half, 0.18 + half))


def test_pool_that_was_read_whole_leaves_no_doubt():
    found = weighted([Part(k=3, n=10, pool=10), Part(k=5, n=10, pool=10)])
    assert (found.value, found.ci) == (pytest.approx(0.4), None)


def test_stratum_without_a_bug_takes_the_interval_away_and_keeps_the_share():
    found = weighted([Part(k=1, n=4, pool=100), Part(k=0, n=0, pool=50)])
    assert (found.value, found.ci, found.n) == (0.25, None, 4)
    assert weighted([]).reason == "no_overlap"


def single(names):
    return Counter(((name, 1),) for name in names)


def test_without_shared_pull_requests_the_bootstrap_is_near_share_of():
    found = by_cluster(single("a" * 300 + "b" * 700))
    assert found["a"] == pytest.approx(share_of(300, 1000).ci, abs=0.006)
    assert found["b"] == pytest.approx(tuple(1 - limit for limit in reversed(found["a"])))


def test_bugs_that_share_a_pull_request_widen_the_interval():
    """A hundred pull requests of ten like bugs tell what a hundred bugs do, not a thousand."""
    clusters = {(("a", 10),): 30, (("b", 10),): 70}
    low, high = by_cluster(clusters)["a"]
    assert (low, high) == pytest.approx(share_of(30, 100).ci, abs=0.02)


def test_bootstrap_is_that_of_drawing_cluster_by_cluster():
    draw = random.Random(5)
    clusters = [draw.choice([("a",), ("b",), ("a", "b"), ("a", "a", "b")]) for _ in range(200)]
    shares = []
    for _ in range(1500):
        bugs = [name for cluster in draw.choices(clusters, k=200) for name in cluster]
        shares.append(bugs.count("a") / len(bugs))
    shares.sort()
    found = by_cluster(Counter(tuple(sorted(Counter(cluster).items())) for cluster in clusters))
    assert found["a"] == pytest.approx((shares[37], shares[1462]), abs=0.01)


def test_bootstrap_comes_out_the_same_again_and_otherwise_by_another_seed():
    clusters = {(("a", 1),): 30, (("b", 2),): 70}
    assert by_cluster(clusters) == by_cluster(dict(reversed(clusters.items())))
    assert by_cluster(clusters) != by_cluster(clusters, seed=1)
    assert by_cluster({}) == {}
