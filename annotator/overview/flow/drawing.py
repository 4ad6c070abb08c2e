"""The flow as a picture: boxes down the page, what falls out beside them. Lengths are SVG attributes."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.template.loader import render_to_string

from annotator.overview.flow.counting import Flow, Part, Step

LINE, PAD, GAP = 17, 10, 18
LETTER = 6.3  # how wide a letter of a line is at most, on average


@dataclass(frozen=True)
class Line:
    x: float
    y: float
    text: str
    is_bold: bool = False


@dataclass(frozen=True)
class Box:
    """A step, or beside it what fell out (`out`) or joined (`in`)."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Arrow:
    """From its first point to its last, where the head is."""

    points: str
    head: str


@dataclass(frozen=True)
class Layout:
    """Where the boxes stand. On a narrow page those beside stand below, set in."""

    width: float
    step: float  # how wide a step is
    side: float  # and what stands beside it
    side_x: float

    @property
    def middle(self) -> float:
        return self.step / 2 if self.side_x > self.step else 16


WIDE = Layout(width=760, step=300, side=390, side_x=369)
NARROW = Layout(width=360, step=359, side=319, side_x=40)


@dataclass
class Drawing:
    width: float
    height: float = 0
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    described: str = ""


def drawing_of(flow: Flow, layout: Layout = WIDE) -> Drawing:
    drawn = Drawing(layout.width, described=described(flow))
    y = 1.0
    for step, following in zip(flow.steps, [*flow.steps[1:], None], strict=True):
        box = _box(0.5, y, layout.step, "step" if step.is_balanced else "broken", _of_step(step))
        drawn.boxes.append(box)
        y = box.y + box.height
        if following is None:
            break
        top, y = y, _beside(drawn, layout, step, following, y + GAP)
        drawn.arrows.append(_arrow(layout.middle, top, layout.middle, y))
    drawn.height = y + 1
    return drawn


def _beside(drawn: Drawing, layout: Layout, step: Step, following: Step, y: float) -> float:
    """What falls out of the step and what joins the next; where the next one begins."""
    for kind, parts in (("out", step.excluded), ("in", following.added)):
        if not parts:
            continue
        box = _box(layout.side_x, y, layout.side, kind, _of_parts(parts, kind, layout))
        drawn.boxes.append(box)
        at = round(box.y + box.height / 2, 1)
        ends = (layout.middle, layout.side_x) if kind == "out" else (layout.side_x, layout.middle)
        drawn.arrows.append(_arrow(ends[0], at, ends[1], at))
        y = box.y + box.height + GAP
    return y


def _box(x: float, y: float, width: float, kind: str, texts: Sequence[tuple[str, bool]]) -> Box:
    lines = tuple(
        Line(x + PAD, round(y + PAD + LINE * place + 12, 1), text, is_bold)
        for place, (text, is_bold) in enumerate(texts)
    )
    return Box(x, round(y, 1), width, 2 * PAD + LINE * len(texts), kind, lines)


def _of_step(step: Step) -> list[tuple[str, bool]]:
    counted = f"{step.n:,} {_unit(step)}"
    texts = [(counted if step.is_counted_anew else f"{step.title}: {counted}", True)]
    if step.votes:
        told = ", ".join(f"{n:,} with {votes}" for votes, n in step.votes)
        texts += [(line, False) for line in textwrap.wrap(f"Votes to include: {told}", 46)]
    texts += [(line, False) for note in step.notes for line in textwrap.wrap(note, 46)]
    if not step.is_balanced:
        texts.append((f"{step.expected:,} would follow", False))
    return texts


def _unit(step: Step) -> str:
    return step.unit.removesuffix("s") if step.n == 1 else step.unit


def _of_parts(parts: Sequence[Part], kind: str, layout: Layout) -> list[tuple[str, bool]]:
    head = f"{'Out' if kind == 'out' else 'Added'}: {sum(part.n for part in parts):,}"
    texts = [(head, True)] if len(parts) > 1 else []
    letters = int((layout.side - 2 * PAD) / LETTER)
    for part in parts:
        lines = textwrap.wrap(f"{part.n:,} {part.reason}", letters, break_long_words=True)
        texts += [(line, False) for line in lines]
    return texts


def _arrow(x: float, y: float, to_x: float, to_y: float) -> Arrow:
    """Straight down or straight across."""
    if x == to_x:
        head = f"{to_x},{to_y} {to_x - 4},{to_y - 8} {to_x + 4},{to_y - 8}"
        return Arrow(f"{x},{y} {to_x},{to_y - 8}", head)
    back = -8 if to_x > x else 8
    return Arrow(f"{x},{y} {to_x + back},{to_y}", f"{to_x},{to_y} {to_x + back},{to_y - 4} {to_x + back},{to_y + 4}")


def described(flow: Flow) -> str:
    """What the picture says, for those who hear it."""
    return ". ".join(_told(flow)) + "."


def _told(flow: Flow) -> Iterator[str]:
    for step in flow.steps:
        out = ", ".join(f"{part.n:,} {part.reason}" for part in step.excluded)
        joined = ", ".join(f"{part.n:,} {part.reason}" for part in step.added)
        yield (
            f"{step.title} {step.n:,} {_unit(step)}"
            + (f", with {joined} added" if joined else "")
            + (f"; of these {out}" if out else "")
        )
    yield "It adds up" if flow.is_balanced else "It does not add up"


def svg_of(flow: Flow, *, title: str) -> str:
    """A file of its own, in the colours of paper."""
    return render_to_string("overview/flow.svg", {"drawing": drawing_of(flow), "title": title, "is_file": True})
