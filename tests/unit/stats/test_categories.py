import pytest
from hypothesis import given
from sklearn.metrics import cohen_kappa_score

from annotator.stats.categories import per_category
from annotator.stats.margins import dominant, warnings
from annotator.stats.tables import Table
from tests.unit.stats.tables_at_random import NAMES, spelt_out, tables


def test_unused_categories_have_no_kappa_rather_than_one():
    rows = per_category(Table({("A", "A"): 5}), "ABCD")
    assert [row.kappa.value for row in rows] == [None] * 4
    assert [row.positive_agreement for row in rows] == [1.0, None, None, None]


def test_positive_agreement_is_twice_both_over_all_votes():
    table = Table({("A", "A"): 8, ("A", "B"): 3, ("B", "A"): 1, ("B", "B"): 5})
    row = per_category(table, ["A"])[0]
    assert (row.first, row.second, row.both) == (11, 9, 8)
    assert row.positive_agreement == 0.8


@given(tables)
def test_kappa_of_each_category_equals_scikit_learn_on_yes_and_no(table):
    a, b = spelt_out(table)
    for row in per_category(table, NAMES):
        first, second = ([answer == row.category for answer in answers] for answers in (a, b))
        if len(set(first) | set(second)) == 1:
            assert row.kappa.reason == "single_category"
        else:
            assert row.kappa.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


def test_prevalence_is_warned_of_from_two_thirds_on():
    paradox = Table({("bug", "bug"): 18, ("bug", "not"): 1, ("not", "bug"): 1})
    assert warnings(paradox) == ["prevalence"]
    found = dominant(paradox)
    assert found is not None
    assert (found.category, found.share) == ("bug", 0.95)
    assert warnings(Table({("A", "A"): 2, ("B", "B"): 1})) == ["prevalence"]
    assert warnings(Table({("A", "A"): 13, ("B", "B"): 7})) == []


def test_a_constant_rater_is_warned_of():
    assert warnings(Table({("A", "A"): 5, ("A", "B"): 5})) == ["prevalence", "constant_rater"]


def test_one_category_alone_is_not_called_prevalent():
    assert warnings(Table({("A", "A"): 5})) == []
