"""How long the rest may take, and the bar that shows it."""

import datetime as dt

import pytest

from annotator.collection.bar import Part, laid_out
from annotator.collection.budgets import Allowance, Key, minutes_left

NOW = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)


def key(remaining: int | None, limit: int | None = 5_000, minutes: int = 20) -> Key:
    reset = NOW + dt.timedelta(minutes=minutes)
    return Key("x", (Allowance("core", remaining, limit, reset), Allowance("search", 0, 30, reset)), None)


@pytest.mark.parametrize(
    ("left", "pace", "keys", "minutes"),
    [
        (280, 28.0, [key(5_000)], 10),
        (1, 28.0, [key(5_000)], 1),
        (280, 28.0, [], 10),
        (280, 28.0, [key(None)], 10),
        (1_000, 100.0, [key(500)], 25),  # 20 until the reset, then 500 at that pace
        (1_000, 100.0, [key(500), key(500)], 10),
        (6_000, 100.0, [key(500)], 85),  # the second allowance is used up as well: an hour more
        (0, 28.0, [key(5_000)], None),
        (280, 0.0, [key(5_000)], None),
    ],
)
def test_the_rest_takes_its_pace_and_the_waits_for_the_allowance(left, pace, keys, minutes):
    assert minutes_left(left, per_minute=pace, keys=keys, now=NOW) == minutes


def test_the_bar_is_as_wide_as_it_is_and_shows_what_is_one():
    parts = laid_out([Part("fetched", 100_000, "", ""), Part("gone", 1, "", ""), Part("left", 0, "", "")])
    assert parts[0].x == 0
    assert parts[1].width > 2
    assert parts[2].width == 0
    assert round(sum(part.width for part in parts)) == 900


def test_an_empty_bar_has_no_lengths():
    assert laid_out([Part("fetched", 0, "", "")])[0].width == 0
