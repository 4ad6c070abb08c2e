from math import sqrt

import pytest
from hypothesis import given, settings

from annotator.stats.chance import ac1, pabak
from annotator.stats.tables import Table
from tests.unit.stats.tables_at_random import tables

PARADOX = Table({("bug", "bug"): 18, ("bug", "not"): 1, ("not", "bug"): 1})
BY_HAND = Table({("A", "A"): 40, ("A", "B"): 9, ("B", "A"): 6, ("B", "B"): 45})
"""AC1: shares .475 and .525, chance 2 × .475 × .525 = .49875, (.85 - .49875) / (1 - .49875)."""


def test_ac1_stays_high_where_one_category_dominates():
    assert ac1(PARADOX, categories=2).value == pytest.approx(0.8895, abs=5e-5)


def test_ac1_of_a_table_worked_out_by_hand():
    assert ac1(BY_HAND, categories=2).value == pytest.approx(0.35125 / 0.50125, abs=1e-15)


def test_ac1_of_three_categories_worked_out_by_hand():
    table = Table({("A", "A"): 5, ("B", "B"): 3, ("A", "B"): 2})
    chance = (0.6 * 0.4 + 0.4 * 0.6) / 2
    assert ac1(table, categories=3).value == pytest.approx((0.8 - chance) / (1 - chance), abs=1e-15)


def test_pabak_takes_chance_from_the_number_of_categories():
    assert pabak(PARADOX, categories=2).value == pytest.approx(0.80, abs=1e-15)
    assert pabak(PARADOX, categories=4).value == pytest.approx((4 * 0.9 - 1) / 3, abs=1e-15)


@pytest.mark.parametrize("coefficient", [ac1, pabak])
def test_one_declared_category_has_no_coefficient(coefficient):
    found = coefficient(Table({("A", "A"): 5}), categories=1)
    assert (found.value, found.reason) == (None, "single_category")


@pytest.mark.parametrize("coefficient", [ac1, pabak])
def test_nothing_compared_has_no_coefficient(coefficient):
    assert coefficient(Table(), categories=4).reason == "no_overlap"


@pytest.mark.parametrize("coefficient", [ac1, pabak])
def test_perfect_agreement_has_no_interval(coefficient):
    found = coefficient(Table({("A", "A"): 5, ("B", "B"): 5}), categories=3)
    assert (found.value, found.ci) == (1.0, None)


@pytest.mark.parametrize("coefficient", [ac1, pabak])
@settings(max_examples=50)
@given(table=tables)
def test_the_error_equals_the_delta_method_by_finite_differences(coefficient, table):
    """The gradient of the coefficient in the cells' shares, taken numerically, gives the same variance."""
    scale, step = 10**9, 10**4
    cells = {cell: count * scale for cell, count in table.cells.items()}
    n = table.n

    def at(bumped):
        return coefficient(Table({**cells, bumped: cells[bumped] + step}), categories=6).value, coefficient(
            Table({**cells, bumped: cells[bumped] - step}), categories=6
        ).value

    slope = {cell: (up - down) / (2 * step) * n * scale for cell in cells for up, down in [at(cell)]}
    mean = sum(table.cells[cell] / n * slope[cell] for cell in cells)
    variance = sum(table.cells[cell] / n * (slope[cell] - mean) ** 2 for cell in cells)
    assert coefficient(table, categories=6).se == pytest.approx(sqrt(variance / n), abs=1e-5)
