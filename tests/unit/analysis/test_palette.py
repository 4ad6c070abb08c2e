"""Every colour of every figure: dark enough for what is written on it, and told apart whatever colours a reader sees.

Colour blindness is simulated in linear RGB by the matrices of Machado, Oliveira and Fernandes (2009) at full severity;
distances are CIE 1976 ΔE*ab under D65; contrast is that of WCAG 2.2.
"""

import re
from itertools import combinations, pairwise

import pytest

from annotator.analysis import asked as kinds
from annotator.analysis import palette
from annotator.analysis.asked import read_asked
from annotator.analysis.picturing import picture_of
from annotator.analysis.sheets import COUNT, NUMBER, SECONDS, SHARE, Column, Sheet

SEES = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
D65 = (0.95047, 1.0, 1.08883)


def linear(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(colour, eyes):
    seen = [min(1, max(0, sum(m * c for m, c in zip(row, linear(colour), strict=True)))) for row in SEES[eyes]]
    to_xyz = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
    xyz = [sum(m * c for m, c in zip(row, seen, strict=True)) / white for row, white in zip(to_xyz, D65, strict=True)]
    x, y, z = (c ** (1 / 3) if c > (6 / 29) ** 3 else c / (3 * (6 / 29) ** 2) + 4 / 29 for c in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, eyes):
    return sum((a - b) ** 2 for a, b in zip(lab(one, eyes), lab(other, eyes), strict=True)) ** 0.5


def test_distance_is_that_of_the_definition():
    assert distance("#000000", "#ffffff", "all") == pytest.approx(100, abs=0.01)
    assert distance("#ff0000", "#00ff00", "all") == pytest.approx(170.6, abs=0.1)
    assert distance("#ff0000", "#00ff00", "protanopia") < 100


@pytest.mark.parametrize("eyes", SEES)
def test_series_are_told_apart(eyes):
    for one, other in combinations(palette.SERIES[: palette.EASILY_TOLD], 2):
        assert distance(one, other, eyes) >= 26.5
    for one, other in combinations(palette.SERIES, 2):
        assert distance(one, other, eyes) >= 9, "of more than four each has its number, and a gap between neighbours"


@pytest.mark.parametrize("eyes", SEES)
@pytest.mark.parametrize("steps", [palette.HEAT, palette.GREY_HEAT, palette.GREYS[::-1]])
def test_steps_grow_darker_one_by_one(steps, eyes):
    lightness = [lab(step, eyes)[0] for step in steps]
    assert min(light - dark for light, dark in pairwise(lightness)) >= 3


def test_series_stand_out_from_the_paper_and_carry_their_numbers():
    for colour in palette.SERIES:
        assert palette.contrast(colour, palette.PAPER) >= 3
    for colour in (*palette.SERIES[: palette.EASILY_TOLD], *palette.HEAT, *palette.GREY_HEAT, *palette.GREYS):
        assert palette.contrast(palette.ink_on(colour), colour) >= 4.5
    for colour in palette.SERIES:
        assert palette.contrast(palette.ink_on(colour), colour) >= 4.5


def test_intervals_stand_out_from_their_bars():
    for bar in (palette.SERIES[0], palette.GREYS[1]):
        assert palette.contrast(palette.INK, bar) >= 3


NAMES = ["alpha", "beta", "gamma", "delta"]


def cross_rows():
    return [(a, b, n, n / 10, n / 10, 1.5, 1.1, 2.0) for a, n in zip(NAMES, (9, 7, 5, 2), strict=True) for b in NAMES]


SHEETS = {
    kinds.DISTRIBUTION: (
        [Column("category", ""), Column("bugs", "", COUNT), Column("share", "", SHARE), Column("low", "", SHARE), Column("high", "", SHARE)],
        [(name, 5, 0.25, 0.1, 0.4) for name in NAMES],
    ),
    kinds.CROSS: (
        [Column(key, key, is_) for key, is_ in (("row", "text"), ("column", "text"), ("bugs", COUNT), ("row_share", SHARE), ("column_share", SHARE), ("lift", NUMBER), ("lift_low", NUMBER), ("lift_high", NUMBER))],
        cross_rows(),
    ),
    kinds.CORRELATION: ([Column("a", ""), Column("b", ""), Column("rho", "", NUMBER)], [(a, b, rho) for (a, b), rho in zip(combinations(NAMES, 2), (0.9, 0.7, 0.5, 0.2, -0.9, None), strict=True)]),
    kinds.ASSOCIATION: ([Column("a", ""), Column("b", ""), Column("v", "", NUMBER)], [(a, b, 0.4) for a, b in combinations(NAMES, 2)]),
    kinds.TREND: ([Column("period", ""), Column("category", ""), Column("bugs", "", COUNT)], [(month, name, 3) for month in ("2020-01", "2020-02") for name in NAMES]),
    kinds.TIME: ([Column("category", ""), Column("turns", "", COUNT), Column("lower", "", SECONDS), Column("median", "", SECONDS), Column("upper", "", SECONDS)], [(name, 4, 20, 40, 70) for name in NAMES]),
    kinds.COMPARISON: (
        [Column("category", ""), *(Column(f"{side}{key}", f"{side}x") for side in ("", "other_") for key in ("bugs", "share", "low", "high"))],
        [(name, 5, 0.25, 0.1, 0.4, 9, 0.3, 0.2, 0.5) for name in NAMES],
    ),
    kinds.AGREEMENT: ([Column(key, "") for key in ("round", "facet", "raters", "kappa", "low", "high")], [("1", "cause", "a and b", 0.8, 0.7, 0.9)]),
}  # fmt: skip
LOOKS = [
    {},
    {"show": "rows"},
    {"shape": "heat"},
    {"colours": "grey"},
    {"fill": "hatched"},
    {"colours": "grey", "fill": "hatched"},
]
OF_THE_FRAME = {palette.PAPER, palette.INK, palette.LINE, "none", "transparent", "white", "black"}


def colours_in(svg):
    found = set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg))
    return {colour for colour in found if not colour.startswith("url(")}


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_every_figure_takes_its_colours_from_the_palette(kind, look):
    columns, rows = SHEETS[kind]
    sheet = Sheet(kind, "A title", "final", 20, tuple(columns), tuple(rows), notes=("A note.",))
    needed = {"by": "cause", "across": "stage"} | ({"other": "x"} if kind == kinds.COMPARISON else {})
    svg = picture_of(sheet, read_asked(kind, needed | look))
    known = {*palette.SERIES, *palette.GREYS, *palette.HEAT, *palette.GREY_HEAT}
    assert colours_in(svg) - OF_THE_FRAME <= known
    if look.get("colours") == "grey":
        assert not colours_in(svg) & {*palette.SERIES, *palette.HEAT[1:]}
    if look.get("fill") == "hatched" and kind == kinds.CROSS:
        assert svg.count("<pattern") == len(NAMES)


def test_sheets_cover_every_kind():
    assert set(SHEETS) == set(kinds.KINDS)
