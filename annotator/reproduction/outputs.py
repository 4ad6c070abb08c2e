"""What a run wrote: its log line by line, searched, and two outputs side by side."""

import datetime as dt
import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotator.reproduction.matrix import Matrix
from annotator.reproduction.models import Log, Run
from annotator.web.diff import table

TAIL = 200  # lines on a recipe's page
MOST_LINES = 5000  # of a log on its own page; all of it is in the file
MOST_FOUND = 500
MOST_PIECES = 2000
LAST_PIECES = 60
MOST_COMPARED = 600  # lines of each output
STREAMS = [("", "all, as it came"), ("out", "standard output"), ("err", "standard error")]


@dataclass(frozen=True, kw_only=True)
class Line:
    text: str
    number: int = 0
    at: dt.datetime | None = None
    is_error: bool = False
    begins: bool = True  # a line, and not the rest of one
    ends: bool = True


# --- the log


def lines_of(pieces: Iterable[Log], *, begins: bool = True) -> list[Line]:
    """Pieces end anywhere: what goes on in the next one is told as a part. `begins`: a line is begun."""
    found: list[Line] = []
    for piece in pieces:
        for text in piece.text.splitlines(keepends=True):
            ends = text.endswith(("\n", "\r"))
            found.append(Line(text=text.rstrip("\r\n"), at=piece.at, is_error=piece.is_error, begins=begins, ends=ends))
            begins = ends
    return found


def markup(lines: Sequence[Line], follow_url: str = "") -> SafeString:
    """What stands in the log's box: no template, which would end in a line of its own. `follow_url` gives what comes."""
    told = format_html_join("", "{}{}{}", ((_clock(line), _said(line), "\n" if line.ends else "") for line in lines))
    if not follow_url:
        return told
    more = '<span id="follow" hx-get="{}" hx-trigger="every 2s" hx-swap="outerHTML"></span>'
    return format_html("{}" + more, told, follow_url)


def _clock(line: Line) -> str:
    return format_html("<i>{}</i> ", f"{line.at:%H:%M:%S}") if line.begins and line.at else ""


def _said(line: Line) -> str:
    return format_html("<b>{}</b>", line.text) if line.is_error else line.text


def pieces_of(run: Run) -> list[Log]:
    rows = Log.objects.filter(run=run, attempt=run.attempt)
    return list(rows.order_by("sequence")[:MOST_PIECES])


def tail(run: Run) -> tuple[list[Line], int]:
    """The last lines of what the current attempt has written, and the sequence of its last piece (−1: none)."""
    rows = Log.objects.filter(run=run, attempt=run.attempt).order_by("-sequence")
    pieces = [*reversed(rows[:LAST_PIECES])]
    lines = lines_of(pieces) if pieces else kept(run)
    return lines[-TAIL:], pieces[-1].sequence if pieces else -1


def kept(run: Run, stream: str = "") -> list[Line]:
    """What came with the result: all of standard output, then all of standard error."""
    streams = [("out", run.stdout, False), ("err", run.stderr, True)]
    return [
        Line(text=text, is_error=is_error)
        for name, content, is_error in streams
        if stream in ("", name)
        for text in content.splitlines()
    ]


def whole(run: Run, stream: str = "") -> list[Line]:
    """Line by line. A stream alone comes with the result; both together, as they came, are in the log."""
    is_over = run.state == Run.State.ENDED
    if is_over and stream:
        return kept(run, stream)
    pieces = [piece for piece in pieces_of(run) if stream in ("", "err" if piece.is_error else "out")]
    said = sum(len(piece.text) for piece in pieces)
    if is_over and said < len(run.stdout) + len(run.stderr):  # some of it came with the result alone
        return kept(run)
    return list(joined(lines_of(pieces)))


def joined(lines: Sequence[Line]) -> Iterator[Line]:
    """Parts of one line put together."""
    held: Line | None = None
    for line in lines:
        if held is not None and not line.begins:
            held = Line(text=held.text + line.text, at=held.at, is_error=held.is_error or line.is_error)
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def numbered(lines: Sequence[Line], words: str = "") -> list[Line]:
    """With their numbers; where words are given, those lines alone that have them, in any case."""
    wanted = words.casefold()
    found = [
        Line(text=line.text, number=number, at=line.at, is_error=line.is_error)
        for number, line in enumerate(lines, 1)
        if wanted in line.text.casefold()
    ]
    return found[:MOST_FOUND] if wanted else found[:MOST_LINES]


def parts(text: str, words: str) -> list[tuple[str, bool]]:
    """The line in pieces: what was looked for, and what stands around it."""
    wanted, low, at = words.casefold(), text.casefold(), 0
    if not wanted or len(low) != len(text):  # a letter that folds to two: nothing is marked
        return [(text, False)]
    found: list[tuple[str, bool]] = []
    while (hit := low.find(wanted, at)) >= 0:
        found += [(text[at:hit], False), (text[hit : hit + len(wanted)], True)]
        at = hit + len(wanted)
    return [piece for piece in [*found, (text[at:], False)] if piece[0]]


def text_of(run: Run) -> str:
    """All of it as a file."""
    return "".join(f"{line.text}\n" for line in whole(run))


# --- two outputs


@dataclass(frozen=True, kw_only=True)
class Compared:
    left: Run
    right: Run
    stream: str
    table: SafeString | None  # none: they are the same
    is_cut: bool


def compared(matrix: Matrix, left: str = "", right: str = "", stream: str = "") -> Compared | None:
    """Two runs of the series by their keys; else a buggy one and a fixed one with the same seed."""
    runs = {run.key: run for run in matrix.told.runs if run.outcome in Run.COUNTED}
    pair = (runs[left], runs[right]) if left in runs and right in runs else _usual(matrix, list(runs.values()))
    if pair is None or pair[0] == pair[1]:
        return None
    first, second = (Run.objects.get(pk=run.pk) for run in pair)
    if not stream:
        stream = "err" if first.stdout == second.stdout and first.stderr != second.stderr else "out"
    old, new = ((run.stdout if stream == "out" else run.stderr).splitlines() for run in (first, second))
    is_cut = max(len(old), len(new)) > MOST_COMPARED
    patch = "\n".join([*difflib.unified_diff(old[:MOST_COMPARED], new[:MOST_COMPARED], lineterm="", n=3)][2:])
    shown = table("d", "output.txt", patch) if patch else None
    return Compared(left=first, right=second, stream=stream, table=shown, is_cut=is_cut)


def _usual(matrix: Matrix, counted: Sequence[Run]) -> tuple[Run, Run] | None:
    votes = matrix.told.verdict.votes
    if matrix.recipe.is_differential:
        names = votes.majority if votes else ()
        left = next((run for run in counted if run.environment in names), None)
        others = votes.deviants if votes else ()
        right = next((run for run in counted if run.environment in others), None)
        return (left, right) if left and right else None
    left = next((run for run in counted if run.expects == Run.Expects.BUG), None)
    fixed = [run for run in counted if run.expects == Run.Expects.NO_BUG]
    if left is None or not fixed:
        return None
    return left, next((run for run in fixed if run.seed == left.seed), fixed[0])
