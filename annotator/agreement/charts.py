"""Where the lines and points of a chart go. Lengths are SVG attributes: the pages allow no inline style."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotator.agreement.numbers import short

LEFT, RIGHT, TOP, BOTTOM = 30.0, 290.0, 22.0, 128.0
WIDEST_STEP = 58.0
BAR_LEFT, BAR_RIGHT = 4.0, 144.0
GRID = {-1.0: "−1", -0.5: "−.5", 0.0: "0", 0.5: ".5", 1.0: "1"}


@dataclass(frozen=True)
class Reading:
    """One round's value of a coefficient with its interval, where it has one."""

    label: str
    value: float | None
    ci: tuple[float, float] | None = None
    reaches_gate: bool = False


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    text: str
    text_y: float
    is_filled: bool


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Trend:
    """A small multiple: one facet over the rounds. Gaps stay gaps."""

    title: str
    described: str
    points: tuple[Point, ...]
    lines: tuple[str, ...]
    bands: tuple[str, ...]
    whiskers: tuple[tuple[float, float, float], ...]
    rounds: tuple[Tick, ...]
    grid: tuple[Tick, ...]
    gate_y: float | None
    url: str = ""


def trend(
    title: str,
    readings: Sequence[Reading],
    *,
    open_rounds: Sequence[str],
    gate: float | None,
    floor: float,
    url: str = "",
) -> Trend:
    """Readings in the order of their rounds; the open rounds behind them have a place but no value."""
    labels = [reading.label for reading in readings] + [f"{name}, open" for name in open_rounds]
    step = min(WIDEST_STEP, (RIGHT - LEFT) / max(1, len(labels) - 1))
    places = [LEFT + step * place for place in range(len(labels))]
    spots = list(zip(places, readings, strict=False))

    def y(value: float) -> float:
        return _between(value, floor, BOTTOM, TOP)

    runs = _runs(spots)
    return Trend(
        title=title,
        described=_described(title, readings),
        points=tuple(_point(x, reading, y(reading.value)) for x, reading in spots if reading.value is not None),
        lines=tuple(_path((x, y(r.value or 0.0)) for x, r in run) for run in runs if len(run) > 1),
        bands=tuple(_band(run, floor) for run in _with_interval(spots) if len(run) > 1),
        whiskers=tuple(
            (x, y(r.ci[0]), y(r.ci[1])) for run in _with_interval(spots) if len(run) == 1 for x, r in run if r.ci
        ),
        rounds=tuple(Tick(round(x, 1), label) for x, label in zip(places, labels, strict=True)),
        grid=tuple(Tick(y(value), text) for value, text in GRID.items() if value >= floor),
        gate_y=y(gate) if gate is not None else None,
        url=url,
    )


@dataclass(frozen=True)
class Bar:
    """A value and its interval on a line from 0 to 1, with the gate."""

    value_x: float | None
    low_x: float | None
    high_x: float | None
    gate_x: float | None
    is_filled: bool


def bar(value: float | None, ci: Sequence[float] | None, *, gate: float | None, is_filled: bool) -> Bar:
    def x(at: float) -> float:
        return _between(at, 0.0, BAR_LEFT, BAR_RIGHT)

    return Bar(
        value_x=x(value) if value is not None else None,
        low_x=x(ci[0]) if ci else None,
        high_x=x(ci[1]) if ci else None,
        gate_x=x(gate) if gate is not None else None,
        is_filled=is_filled,
    )


def floor_of(readings: Iterable[Reading]) -> float:
    """The axis starts at 0, lower where a value or its interval does. Small multiples side by side share it."""
    lowest = min((r.ci[0] if r.ci else r.value for r in readings if r.value is not None), default=0.0)
    return 0.0 if lowest >= 0 else -0.5 if lowest >= -0.5 else -1.0


def _between(value: float, floor: float, start: float, end: float) -> float:
    """Values beyond the axis are drawn at its end; the table has them in full."""
    held = min(1.0, max(floor, value))
    return round(start + (held - floor) / (1 - floor) * (end - start), 1)


def _point(x: float, reading: Reading, y: float) -> Point:
    return Point(round(x, 1), y, short(reading.value), max(y - 9, 14.0), reading.reaches_gate)


Spots = list[tuple[float, Reading]]


def _runs(spots: Spots) -> list[Spots]:
    """Neighbouring rounds that have a value: a line does not cross a gap."""
    runs: list[Spots] = [[]]
    for x, reading in spots:
        if reading.value is None:
            runs.append([])
        else:
            runs[-1].append((x, reading))
    return [run for run in runs if run]


def _with_interval(spots: Spots) -> list[Spots]:
    return _runs([(x, reading if reading.ci else Reading(reading.label, None)) for x, reading in spots])


def _band(run: Spots, floor: float) -> str:
    upper = [(x, _between(r.ci[1], floor, BOTTOM, TOP)) for x, r in run if r.ci]
    lower = [(x, _between(r.ci[0], floor, BOTTOM, TOP)) for x, r in run if r.ci]
    return _path(upper + lower[::-1])


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _described(title: str, readings: Sequence[Reading]) -> str:
    """What the picture says, for those who hear it."""
    said = []
    for reading in readings:
        interval = f" from {short(reading.ci[0])} to {short(reading.ci[1])}" if reading.ci else ""
        said.append(
            f"{reading.label} {short(reading.value) if reading.value is not None else 'not computable'}{interval}"
        )
    return f"{title} by round: {', '.join(said)}" if said else f"{title}: no round is closed yet"
