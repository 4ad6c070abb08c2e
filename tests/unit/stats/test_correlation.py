import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr
from scipy.stats import t as student

from annotator.stats.correlation import spearman, twice_ranks
from annotator.stats.student import two_sided

series = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=40)


@given(st.lists(st.integers(0, 6), min_size=1))
def test_ties_share_their_mean_rank(values):
    assert twice_ranks(values) == [2 * rank for rank in rankdata(values)]


@given(series)
def test_rho_and_p_equal_scipy(points):
    x, y = zip(*points, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    found, theirs = spearman(x, y), spearmanr(x, y)
    assert found.rho == pytest.approx(theirs.statistic, abs=1e-12)
    if abs(found.rho) < 1:
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-14)


@given(st.floats(-40, 40), st.integers(1, 400))
def test_the_tail_of_t_equals_scipy(t, degrees):
    assert two_sided(t, degrees) == pytest.approx(2 * student.sf(abs(t), degrees), rel=1e-9, abs=1e-200)


def test_a_constant_series_has_no_correlation():
    found = spearman([1, 1, 1], [1, 2, 3])
    assert (found.rho, found.p, found.reason) == (None, None, "single_category")


def test_the_same_order_is_exactly_one():
    assert (spearman([1, 2, 2, 9], [3, 4, 4, 5]).rho, spearman([1, 2, 3], [3, 2, 1]).rho) == (1.0, -1.0)


def test_series_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="not 2 and 1"):
        spearman([1, 2], [1])
