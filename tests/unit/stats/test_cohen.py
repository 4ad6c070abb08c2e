import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from annotator.stats.cohen import cohen, weighted
from annotator.stats.tables import Table
from tests.unit.stats.tables_at_random import NAMES, pairs, spelt_out, tables


def of(first: str, second: str) -> Table:
    return Table.of_pairs(zip(first, second, strict=True))


def test_one_category_alone_has_no_kappa_and_says_why():
    kappa = cohen(Table({("API misuse", "API misuse"): 5}))
    assert (kappa.value, kappa.reason, kappa.n) == (None, "single_category", 5)
    assert (kappa.observed, kappa.se, kappa.ci) == (1.0, None, None)


def test_nothing_compared_has_no_kappa_and_says_why():
    assert (cohen(Table()).value, cohen(Table()).reason) == (None, "no_overlap")


def test_a_dominant_category_gives_a_negative_kappa_beside_high_agreement():
    kappa = cohen(Table({("bug", "bug"): 18, ("bug", "not"): 1, ("not", "bug"): 1}))
    assert kappa.observed == 0.90
    assert kappa.value == pytest.approx(-1 / 19, abs=1e-15)


def test_kappa_of_six_bugs_both_answered():
    assert cohen(of("XXYYXY", "XYYYXX")).value == pytest.approx(1 / 3)


def test_kappa_of_five_bugs_both_answered():
    assert cohen(of("XXXYY", "XXYYX")).value == pytest.approx(1 / 6)


def test_votes_paired_by_bug_give_one_where_pairing_by_position_gives_zero():
    assert cohen(of("PPQQRR", "PPQQRR")).value == 1.0
    assert cohen(of("PPQQRR", "RRQQPP")).value == pytest.approx(0.0)


def test_agreement_without_a_difference_has_kappa_one_and_no_interval():
    kappa = cohen(Table({("A", "A"): 50, ("B", "B"): 50}))
    assert (kappa.value, kappa.se, kappa.ci) == (1.0, 0.0, None)


def test_a_rater_who_always_says_the_same_leaves_no_interval():
    kappa = cohen(Table({("A", "A"): 7, ("A", "B"): 3}))
    assert (kappa.value, kappa.se, kappa.ci) == (0.0, 0.0, None)


def test_the_interval_is_not_clipped_at_one():
    kappa = cohen(Table({("A", "A"): 10, ("B", "B"): 9, ("A", "B"): 1}))
    assert kappa.ci is not None
    assert kappa.ci[1] > 1


def test_a_million_bugs_keep_every_digit():
    small = Table({("A", "A"): 41, ("A", "B"): 7, ("B", "A"): 5, ("B", "B"): 47})
    large = Table({cell: count * 10_000 for cell, count in small.cells.items()})
    assert cohen(large).value == cohen(small).value
    assert cohen(large).se == pytest.approx(cohen(small).se / 100, rel=1e-14)


@given(tables)
def test_kappa_equals_scikit_learn(table):
    assume(len(table.used) > 1)
    assert cohen(table).value == pytest.approx(cohen_kappa_score(*spelt_out(table)), abs=1e-12)


def of_statsmodels(table, categories, *, wt=None):
    """Its own division by a zero error, which it reports as a warning, is no concern of ours."""
    with np.errstate(all="ignore"):
        theirs = cohens_kappa(np.array(table.square(categories)), wt=wt)
    assume(not math.isnan(theirs.std_kappa))
    return theirs


@given(tables)
def test_kappa_error_and_interval_equal_statsmodels(table):
    assume(len(table.used) > 1)
    kappa, theirs = cohen(table), of_statsmodels(table, sorted(table.used))
    assert kappa.value == pytest.approx(theirs.kappa, abs=1e-12)
    assert kappa.se == pytest.approx(theirs.std_kappa, abs=5e-6)
    if kappa.ci:
        assert kappa.ci == pytest.approx((theirs.kappa_low, theirs.kappa_upp), abs=1e-5)


@given(tables)
def test_kappa_is_the_same_for_either_order_of_the_raters_and_stays_within_bounds(table):
    kappa, swapped = cohen(table), cohen(Table({(b, a): count for (a, b), count in table.cells.items()}))
    assert (kappa.value, kappa.se) == (swapped.value, swapped.se)
    assert kappa.value is None or -1 <= kappa.value <= 1


@given(pairs)
def test_kappa_does_not_depend_on_the_order_of_the_bugs(answers):
    assert cohen(Table.of_pairs(answers)) == cohen(Table.of_pairs(answers[::-1]))


@pytest.mark.parametrize(("power", "name"), [(1, "linear"), (2, "quadratic")])
@settings(max_examples=50)
@given(table=tables)
def test_weighted_kappa_equals_scikit_learn_over_all_declared_categories(table, power, name):
    assume(len(table.used) > 1)
    theirs = cohen_kappa_score(*spelt_out(table), labels=NAMES, weights=name)
    assert weighted(table, order=NAMES, power=power).value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("power", "name"), [(1, "linear"), (2, "quadratic")])
@settings(max_examples=50)
@given(table=tables)
def test_weighted_error_equals_statsmodels(table, power, name):
    assume(len(table.used) > 1)
    theirs = of_statsmodels(table, NAMES, wt=name)
    ours = weighted(table, order=NAMES, power=power).se
    assert ours == pytest.approx(theirs.std_kappa, abs=5e-6)


def test_unused_categories_in_the_middle_stretch_the_distance():
    table = Table({("low", "low"): 5, ("low", "high"): 2, ("mid", "high"): 2, ("high", "high"): 5})
    near = weighted(table, order=("low", "mid", "high"), power=1).value
    far = weighted(table, order=("low", "mid", "upper", "high"), power=1).value
    assert near != far


def test_an_answer_outside_the_order_is_left_out_of_the_weighted_kappa():
    table = Table({("low", "low"): 5, ("high", "low"): 1, ("high", "high"): 4, ("na", "low"): 3})
    kappa = weighted(table, order=("low", "high"), power=1)
    assert kappa.n == 10
    assert kappa.value == cohen(table.within(("low", "high"))).value
