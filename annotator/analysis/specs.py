"""Figures as Vega-Lite specifications: drawn from a sheet, so that a figure can show nothing that its table does not hold."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from annotator.analysis import asked as kinds
from annotator.analysis import palette
from annotator.analysis.asked import Asked
from annotator.analysis.formats import plain
from annotator.analysis.grids import told
from annotator.analysis.sheets import NUMBER, SHARE, Sheet

Spec = dict[str, Any]
FONT: Final = "Liberation Sans, Arial, Helvetica, sans-serif"
ROW, WIDTH, CELL, LABELS = 20, 460, 58, 280
NO_AXIS: Final[Spec] = {"domain": False, "ticks": False, "labelPadding": 6, "title": None, "labelLimit": LABELS}
WHOLE: Final[Spec] = {"tickMinStep": 1, "format": "d"}  # of bugs there is no half
VALUES: Final[Spec] = {"domain": False, "ticks": False, "tickCount": 5, "titleFontWeight": "normal"}


def spec_of(sheet: Sheet, asked: Asked) -> Spec:
    drawn = DRAWN[asked.kind](sheet, asked) if sheet.rows else nothing(sheet)
    subtitle = f"{sheet.told}. {sheet.notes[0]}" if asked.kind == kinds.COMPARISON else sheet.told
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": palette.PAPER,
        "padding": 8,
        "title": {"text": plain(sheet.title), "subtitle": plain(subtitle), "anchor": "start", "frame": "bounds"},
        **drawn,
        "config": {
            "font": FONT,
            "view": {"stroke": None},
            "axis": {"labelColor": palette.INK, "titleColor": palette.INK, "gridColor": palette.LINE, "labelFontSize": 11},
            "title": {"color": palette.INK, "subtitleColor": palette.INK, "fontSize": 13, "offset": 10},
            "text": {"color": palette.INK, "fontSize": 11},
            "header": {"labelColor": palette.INK, "titleColor": palette.INK, "labelFontSize": 11, "labelLimit": LABELS},
            "legend": {"labelColor": palette.INK, "labelLimit": LABELS, "orient": "top", "title": None, "columns": 4, "symbolType": "square", "symbolSize": 130, "symbolStrokeWidth": 0},
        },
    }  # fmt: skip


def data(rows: list[Spec]) -> Spec:
    """Names of people and categories are values here, never parts of the specification."""
    return {"data": {"values": [{k: plain(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows]}}


def names_of(sheet: Sheet, key: str) -> list[str]:
    return [plain(name) for name in dict.fromkeys(sheet.column(key))]


def axis_of(field: str, order: list[str], **more: Any) -> Spec:
    return {"field": field, "type": "nominal", "sort": order, "axis": dict(NO_AXIS), **more}


def nothing(sheet: Sheet) -> Spec:
    return {"data": {"values": [{"says": "Nothing to show."}]}, "mark": "text", "encoding": {"text": {"field": "says"}}}


def one_colour(asked: Asked) -> str:
    return palette.series(1, asked.colours)[0] if asked.colours != "grey" else palette.GREYS[1]


# --- one facet


def distribution(sheet: Sheet, asked: Asked) -> Spec:
    """Bars of shares with their intervals; the count and the share stand at the end."""
    rows = sheet.records()
    for row in rows:
        row["says"] = f"{row['bugs']}  ({told(row['share'], SHARE)})"
        row["end"] = row["high"]
    y = axis_of("category", names_of(sheet, "category"))
    percent = {"title": f"Share of {sheet.unit}", "axis": VALUES | {"format": "%"}}
    x = {"field": "share", "type": "quantitative", **percent}
    return {
        **data(rows),
        "width": WIDTH,
        "height": {"step": ROW},
        "encoding": {"y": y},
        "layer": [
            {"mark": {"type": "bar", "color": one_colour(asked), "height": {"band": 0.72}}, "encoding": {"x": x}},
            {
                "mark": {"type": "rule", "color": palette.INK, "strokeWidth": 1.2},
                "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"x": {"field": "end", "type": "quantitative"}, "text": {"field": "says"}},
            },
        ],
    }


def time(sheet: Sheet, asked: Asked) -> Spec:
    """Medians with their quartiles."""
    rows = [row for row in sheet.records() if row["median"] is not None]
    for row in rows:
        row["says"] = f"{row['median']:.0f} s  ({row['turns']})"
    x = {"field": "median", "type": "quantitative", "title": "Active seconds: median and quartiles", "axis": VALUES}
    return {
        **data(rows),
        "width": WIDTH,
        "height": {"step": ROW},
        "encoding": {"y": axis_of("category", names_of(sheet, "category"))},
        "layer": [
            {
                "mark": {"type": "rule", "color": palette.INK},
                "encoding": {"x": {"field": "lower", "type": "quantitative"}, "x2": {"field": "upper"}},
            },
            {"mark": {"type": "point", "filled": True, "size": 60, "color": one_colour(asked), "opacity": 1}, "encoding": {"x": x}},
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"x": {"field": "upper", "type": "quantitative"}, "text": {"field": "says"}},
            },
        ],
    }  # fmt: skip


# --- one facet across another


def cross(sheet: Sheet, asked: Asked) -> Spec:
    if asked.show == "lift" or asked.shape == "heat" or is_too_many(sheet, asked):
        return heat_map(sheet, asked)
    return stacked(sheet, asked)


def stack_of(asked: Asked) -> tuple[str, str]:
    """What is a bar, and what its parts: column shares add up over rows."""
    return ("column", "row") if asked.show == "columns" else ("row", "column")


def is_too_many(sheet: Sheet, asked: Asked) -> bool:
    """For colours to tell apart, or for a legend to be read."""
    parts = len(names_of(sheet, stack_of(asked)[1]))
    return parts > palette.most(asked.colours) or (asked.shape == "auto" and parts > palette.EASILY_TOLD)


def stacked(sheet: Sheet, asked: Asked) -> Spec:
    """Bars of counts, or of shares that add up to 100 percent; each part holds its number where it has room."""
    bar, part = stack_of(asked)
    key = {"counts": "bugs", "rows": "row_share", "columns": "column_share"}[asked.show]
    parts = names_of(sheet, part)
    colours = palette.series(len(parts), asked.colours)
    rows = placed(sheet.records(), bar, part, key)
    whole = max(row["end"] for row in rows) or 1
    for row in rows:
        row["ink"] = palette.ink_on(colours[parts.index(plain(row[part]))]) if asked.fill == "solid" else palette.INK
        row["says"] = told(row[key], SHARE, bare=True) if key != "bugs" else str(row[key])
    roomy = [row for row in rows if row[key] and (row["end"] - row["start"]) / whole > 0.016 * len(row["says"])]
    shares: Spec = (
        {"scale": {"domain": [0, 1]}, "axis": VALUES | {"format": "%"}} if key != "bugs" else {"axis": VALUES | WHOLE}
    )
    title = f"Share of {sheet.unit}" if key != "bugs" else sheet.unit.capitalize()
    colour = {"field": part, "type": "nominal", "scale": {"domain": parts, "range": colours}, "sort": parts}
    y = axis_of(bar, names_of(sheet, bar))
    middle = {"field": "middle", "type": "quantitative"}
    return {
        "width": WIDTH,
        "height": {"step": ROW},
        "layer": [
            {
                **data(rows),
                "mark": {"type": "bar", "stroke": outline(asked), "strokeWidth": 0.8, "height": {"band": 0.78}},
                "encoding": {
                    "y": y,
                    "x": {"field": "start", "type": "quantitative", "title": title, **shares},
                    "x2": {"field": "end"},
                    "color": colour,
                },
            },
            *(
                {
                    **data(roomy),
                    "mark": {"type": "text", "baseline": "middle", "stroke": palette.PAPER, "strokeWidth": 4},
                    "encoding": {"y": y, "x": middle, "text": {"field": "says"}},
                }
                for _ in range(asked.fill == "hatched")
            ),
            {
                **data(roomy),
                "mark": {"type": "text", "baseline": "middle"},
                "encoding": {"y": y, "x": middle, "text": {"field": "says"}, "color": {"field": "ink", "scale": None, "type": "nominal"}},
            },
        ],
    }  # fmt: skip


def outline(asked: Asked) -> str:
    """What parts neighbours: a gap, or a line where the colours or their patterns are light."""
    return palette.PAPER if asked.colours == "colour" and asked.fill == "solid" else palette.INK


def placed(rows: list[Spec], bar: str, part: str, key: str) -> list[Spec]:
    """Where each part of a bar starts, ends and has its middle."""
    ends: dict[str, float] = {}
    for row in rows:
        start = ends.get(row[bar], 0)
        row["start"], row["end"] = start, start + (row[key] or 0)
        row["middle"] = (row["start"] + row["end"]) / 2
        ends[row[bar]] = row["end"]
    return [row for row in rows if row["end"] > row["start"]] or rows


def heat_map(sheet: Sheet, asked: Asked) -> Spec:
    key, is_ = {"counts": ("bugs", ""), "rows": ("row_share", SHARE), "columns": ("column_share", SHARE)}.get(
        asked.show, ("lift", NUMBER)
    )
    rows = sheet.records()
    most = max((row[key] or 0 for row in rows), default=0) or 1
    for row in rows:
        step = (row[key] or 0) / most
        row["says"], row["step"] = told(row[key], is_, bare=True), step_of(step)
    return cells(rows, "row", "column", names_of(sheet, "row"), names_of(sheet, "column"), asked)


def step_of(share: float) -> int:
    """0 for none, then five steps that rise with the root: a table's largest cell dwarfs the others."""
    return 0 if share <= 0 else min(5, 1 + int(4 * share**0.5 + 0.5))


def cells(rows: list[Spec], down: str, across: str, downs: list[str], acrosses: list[str], asked: Asked) -> Spec:
    """Squares of six steps of one hue, each with its number."""
    hues = palette.heat(asked.colours)
    for row in rows:
        row["hue"], row["ink"] = hues[row["step"]], palette.ink_on(hues[row["step"]])
    x = axis_of(across, acrosses)
    x["axis"] = NO_AXIS | {"orient": "top", "labelAngle": -30 if any(len(name) > 8 for name in acrosses) else 0}
    return {
        **data(rows),
        "width": {"step": CELL},
        "height": {"step": ROW + 4},
        "encoding": {"y": axis_of(down, downs), "x": x},
        "layer": [
            {"mark": {"type": "rect", "stroke": palette.PAPER, "strokeWidth": 1}, "encoding": {"color": {"field": "hue", "type": "nominal", "scale": None}}},
            {"mark": "text", "encoding": {"text": {"field": "says"}, "color": {"field": "ink", "type": "nominal", "scale": None}}},
        ],
    }  # fmt: skip


def correlation(sheet: Sheet, asked: Asked) -> Spec:
    """The lower triangle; steps are the bands that the numbers are called by."""
    rows = sheet.records()
    for row in rows:
        row["says"] = told(row["rho"], NUMBER)
        row["step"] = 0 if row["rho"] is None else step_of_band(row["rho"])
    names = list(dict.fromkeys([*names_of(sheet, "a"), *names_of(sheet, "b")]))
    return cells(rows, "b", "a", names[1:], names[:-1], asked)


def step_of_band(rho: float) -> int:
    """Of the six steps, one for each band by which a correlation is called."""
    return next((step for least, step in ((0.8, 5), (0.6, 4), (0.4, 2)) if abs(rho) >= least), 1)


# --- over time, side by side, by round


def trend(sheet: Sheet, asked: Asked) -> Spec:
    """Small multiples: a strip of bars for each category, all on one scale."""
    names = names_of(sheet, "category")
    periods = names_of(sheet, "period")
    shown = [name for place, name in enumerate(periods) if place % max(1, len(periods) // 12) == 0]
    return {
        **data(sheet.records()),
        "mark": {"type": "bar", "color": one_colour(asked)},
        "encoding": {
            "x": axis_of("period", periods) | {"axis": NO_AXIS | {"values": shown, "labelAngle": -40}},
            "y": {"field": "bugs", "type": "quantitative", "title": None, "axis": VALUES | WHOLE | {"tickCount": 2}},
            "row": {
                "field": "category", "type": "nominal", "sort": names, "title": None, "spacing": 6,
                "header": {"labelAngle": 0, "labelAlign": "left", "labelOrient": "left", "labelPadding": 4},
            },
        },
        "width": WIDTH,
        "height": 34,
    }  # fmt: skip


def comparison(sheet: Sheet, asked: Asked) -> Spec:
    """Both shares of each category with their intervals: told apart by form as well as by colour."""
    titles = [plain(column.title) for column in sheet.columns if column.key in ("bugs", "other_bugs")]
    rows = [
        {"category": row["category"], "study": titles[place], "share": row[f"{side}share"], "low": row[f"{side}low"],
         "high": row[f"{side}high"], "shift": place}
        for row in sheet.records() for place, side in enumerate(("", "other_"))
    ]  # fmt: skip
    two = palette.GREYS[:2] if asked.colours == "grey" else palette.SERIES[:2]
    both = {"domain": titles, "range": list(two)}
    forms = {"domain": titles, "range": ["circle", "square"]}
    offset = {"field": "study", "sort": titles}
    return {
        **data(rows),
        "width": WIDTH,
        "height": {"step": 13},
        "encoding": {
            "y": axis_of("category", names_of(sheet, "category")), "yOffset": offset,
            "color": {"field": "study", "type": "nominal", "scale": both, "sort": titles},
        },
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 1.4}, "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
            {
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
                "encoding": {
                    "x": {"field": "share", "type": "quantitative", "title": "Share of bugs", "axis": VALUES | {"format": "%"}},
                    "shape": {"field": "study", "type": "nominal", "scale": forms, "sort": titles},
                },
            },
        ],
    }  # fmt: skip


def agreement(sheet: Sheet, asked: Asked) -> Spec:
    """Small multiples: kappa with its interval by round, a column for each facet."""
    rows = [row | {"label": f"{row['round']}: {row['raters']}"} for row in sheet.records()]
    order = [plain(row["label"]) for row in rows]
    facets = names_of(sheet, "facet")
    x = {
        "field": "kappa",
        "type": "quantitative",
        "title": "Cohen's κ, 95 % interval",
        "scale": {"domain": [-0.2, 1], "clamp": True},
        "axis": VALUES,
    }
    return {
        **data(rows),
        "facet": {"row": {"field": "facet", "type": "nominal", "sort": facets, "title": None, "header": {"labelOrient": "top", "labelAnchor": "start"}}},
        "spec": {
            "width": WIDTH,
            "height": {"step": ROW},
            "encoding": {"y": axis_of("label", list(dict.fromkeys(order)))},
            "layer": [
                {"mark": {"type": "rule", "color": palette.INK}, "encoding": {"x": {"field": "low", "type": "quantitative", "title": x["title"]}, "x2": {"field": "high"}}},
                {"mark": {"type": "point", "filled": True, "size": 60, "color": one_colour(asked), "opacity": 1}, "encoding": {"x": x}},
            ],
        },
        "resolve": {"scale": {"y": "independent"}},
    }  # fmt: skip


def association(sheet: Sheet, asked: Asked) -> Spec:
    """Cramér's V of each pair of facets, lower triangle."""
    rows = sheet.records()
    for row in rows:
        row["says"], row["step"] = told(row["v"], NUMBER), step_of((row["v"] or 0) ** 2)
    names = list(dict.fromkeys([*names_of(sheet, "a"), *names_of(sheet, "b")]))
    return cells(rows, "b", "a", names[1:], names[:-1], asked)


DRAWN: Final[Mapping[str, Callable[[Sheet, Asked], Spec]]] = {
    kinds.DISTRIBUTION: distribution,
    kinds.CROSS: cross,
    kinds.CORRELATION: correlation,
    kinds.ASSOCIATION: association,
    kinds.TREND: trend,
    kinds.TIME: time,
    kinds.COMPARISON: comparison,
    kinds.AGREEMENT: agreement,
}
