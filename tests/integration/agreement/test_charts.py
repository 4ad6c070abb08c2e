import pytest

from annotator.agreement.charts import BOTTOM, TOP, Reading, bar, floor_of, trend
from annotator.agreement.numbers import apart, short
from annotator.agreement.page import shade


def drawn(*readings, **options):
    floor = options.get("floor", floor_of(readings))
    return trend("Cause", readings, open_rounds=options.get("open_rounds", ()), gate=0.8, floor=floor)


def test_one_and_zero_stand_at_the_ends_of_the_axis():
    chart = drawn(Reading("1", 1.0), Reading("2", 0.0))
    assert [point.y for point in chart.points] == [TOP, BOTTOM]


def test_a_negative_value_lowers_the_axis_and_is_drawn_within_it():
    chart = drawn(Reading("1", -0.2, (-0.4, 0.0)))
    assert [tick.text for tick in chart.grid] == ["−.5", "0", ".5", "1"]
    assert TOP < chart.points[0].y < BOTTOM


def test_small_multiples_share_the_lowest_axis():
    low, high = Reading("1", -0.2), Reading("1", 0.9)
    floor = floor_of([low, high])
    assert [tick.text for tick in drawn(high, floor=floor).grid] == ["−.5", "0", ".5", "1"]
    assert drawn(low, floor=floor).grid == drawn(high, floor=floor).grid


def test_a_round_without_a_coefficient_is_a_gap_that_no_line_crosses():
    chart = drawn(*(Reading(str(n), value, (0.1, 0.9)) for n, value in enumerate([0.5, 0.6, None, 0.7, 0.8])))
    assert len(chart.points) == 4
    assert len(chart.lines) == 2
    assert "2 not computable" in chart.described


def test_a_single_interval_is_a_whisker_where_it_cannot_be_a_band():
    chart = drawn(Reading("1", 0.5, (0.3, 0.7)), Reading("2", 0.9))
    assert (len(chart.whiskers), chart.bands) == (1, ())


def test_open_rounds_have_a_place_but_no_value():
    chart = drawn(Reading("1", 0.5), open_rounds=["2"])
    assert [tick.text for tick in chart.rounds] == ["1", "2, open"]
    assert len(chart.points) == 1


def test_many_rounds_stay_within_the_picture():
    chart = drawn(*(Reading(str(n), 0.5) for n in range(20)))
    assert chart.points[-1].x <= 290


def test_a_bar_without_a_value_draws_nothing():
    assert bar(None, None, gate=0.8, is_filled=False).value_x is None
    assert bar(-0.3, (-0.5, 1.2), gate=None, is_filled=False).low_x == 4.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.873, ".87"),
        (-0.0526, "−.05"),
        (1.0, "1.00"),
        (0.9999, ".99"),
        (0.0, ".00"),
        (-0.001, ".00"),
        (-1.0, "−1.00"),
        (None, "–"),
    ],
)
def test_coefficients_are_written_as_people_read_them(value, text):
    assert short(value) == text


def test_a_value_just_below_the_bound_does_not_read_as_equal_to_it():
    assert apart(0.7996, 0.8) == (".7996", ".8000")
    assert apart(0.7996, 0.8)[0] != apart(0.7996, 0.8)[1]
    assert apart(0.8, 0.8) == (".80", ".80")


def test_agreement_is_blue_and_disagreement_red():
    assert shade(0, most=9, is_agreement=True) == "h0"
    assert shade(9, most=9, is_agreement=True) == "h5 dg"
    assert shade(1, most=9, is_agreement=True) == "h1 dg"
    assert (shade(1, most=9, is_agreement=False), shade(2, most=9, is_agreement=False)) == ("e1", "e2")
