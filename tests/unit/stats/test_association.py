"""Lift, chi-square, Fisher and Holm, against scipy, statsmodels and published numbers."""

import gc
import random
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency, fisher_exact
from scipy.stats.contingency import association
from statsmodels.stats.multitest import multipletests

from annotator.stats.association import chi_square, fisher, holm, lift
from annotator.stats.correlation import band
from annotator.stats.gamma import chi_square_tail

tables = st.tuples(st.integers(2, 6), st.integers(2, 6)).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(1, 60), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


@given(st.floats(0, 500), st.integers(1, 120))
def test_tail_of_chi_square_is_scipys(statistic, degrees):
    assert chi_square_tail(statistic, degrees) == pytest.approx(chi2.sf(statistic, degrees), rel=1e-9, abs=1e-12)


@given(tables)
def test_chi_square_and_cramers_v_are_scipys(table):
    found, expected = chi_square(table), chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.degrees == expected.dof
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-12)
    assert found.v == pytest.approx(association(table, method="cramer"), abs=1e-9)
    assert found.smallest == pytest.approx(expected.expected_freq.min())


def test_empty_rows_and_columns_count_for_nothing():
    assert chi_square([[5, 0, 7], [0, 0, 0], [9, 0, 2]]) == chi_square([[5, 7], [9, 2]])


@pytest.mark.parametrize(
    ("table", "options", "reason"),
    [
        ([[5, 7], [9, 2]], {"is_many": True}, "set_valued"),
        ([[5, 7]], {}, "single_category"),
        ([[5, 0], [9, 0]], {}, "single_category"),
        ([[0, 0]], {}, "no_overlap"),
        ([], {}, "no_overlap"),
    ],
)
def test_chi_square_is_refused_with_a_reason(table, options, reason):
    found = chi_square(table, **options)
    assert (found.statistic, found.p, found.v, found.reason) == (None, None, None, reason)


def test_sparse_table_is_warned_of():
    assert chi_square([[50, 60], [70, 80]]).warning is None
    assert chi_square([[1, 2], [3, 1]]).warning == "few_expected"


@given(*[st.integers(0, 80)] * 4)
def test_fisher_is_scipys(a, b, c, d):
    assert fisher(a, b, c, d) == pytest.approx(fisher_exact([[a, b], [c, d]]).pvalue, rel=1e-6, abs=1e-12)


def test_lift_of_a_published_table():
    """Configuration errors and build failures in Jia et al. 2020: 15 bugs, 15 and 48 of 202."""
    assert lift(15, 15, 48, 202).value == pytest.approx(4.21, abs=0.005)


def test_interval_of_the_lift_is_that_of_drawing_again():
    both, first, second, n = 60, 150, 200, 800
    chances = [both, first - both, second - both, n - first - second + both]
    draw = random.Random(3)
    logs = []
    for _ in range(1500):
        drawn = draw.choices(range(4), weights=chances, k=n)
        ab, a, b = drawn.count(0), drawn.count(1), drawn.count(2)
        logs.append(log(ab * n / ((ab + a) * (ab + b))))
    mean = sum(logs) / len(logs)
    spread = sqrt(sum((value - mean) ** 2 for value in logs) / (len(logs) - 1))
    found = lift(both, first, second, n)
    assert (log(found.ci[1]) - log(found.ci[0])) / (2 * 1.96) == pytest.approx(spread, rel=0.08)
    assert found.ci[0] < found.value < found.ci[1]


@given(st.integers(5, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_interval_of_the_lift_holds_it_wherever_there_is_one(both, a, b, rest):
    found = lift(both, both + a, both + b, both + a + b + rest)
    assert found.ci is None or found.ci[0] < found.value < found.ci[1]


def test_few_bugs_give_no_lift_and_say_why():
    assert (lift(4, 40, 40, 400).value, lift(4, 40, 40, 400).reason) == (None, "n_below_floor")
    assert lift(4, 40, 40, 400, floor=1).value == 1
    assert lift(0, 0, 4, 10).reason == "no_overlap"


@pytest.mark.parametrize(("both", "sign"), [(90, 1), (10, -1), (40, 0)])
def test_sign_is_told_where_the_interval_leaves_chance(both, sign):
    assert lift(both, 100, 160, 400).sign == sign


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(ps):
    gc.freeze()  # it collects garbage at each call, and here is much to look through
    try:
        assert holm(ps) == pytest.approx(list(multipletests(ps, method="holm")[1]))
    finally:
        gc.unfreeze()


def test_holm_leaves_out_what_was_not_tested():
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("rho", "word"), [(0.93, "very strong"), (-0.7, "strong"), (0.4, "moderate"), (0.1, "weak or none")]
)
def test_correlation_is_named_by_its_band(rho, word):
    assert band(rho) == word
