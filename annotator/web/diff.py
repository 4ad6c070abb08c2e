"""A patch of one file as a table: old number, new number, pin, sign, code. White space is kept."""

import difflib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal

from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound
from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchSet

Kind = Literal["", "add", "del"]
Segment = tuple[str, str]  # syntax class, text
Span = tuple[int, int]

SIGNS: dict[Kind, str] = {"": " ", "add": "+", "del": "\N{MINUS SIGN}"}
CLASSES = (
    (Token.Comment, "cm"),
    (Token.Keyword.Type, "bi"),
    (Token.Keyword, "k"),
    (Token.Literal.String, "st"),
    (Token.Literal.Number, "nu"),
    (Token.Name.Function, "fn"),
    (Token.Name.Class, "fn"),
    (Token.Name.Builtin, "bi"),
)
WORD = re.compile(r"\w+|\s+|[^\w\s]")
LONGEST_COMPARED = 400
MOST_COLOURED = 150_000  # characters; colouring more takes longer than a reader waits
MOST_PAIRS = 200  # of lines compared word by word in one hunk
MOST_COMPARED = 30  # lines in a run; a longer one is a rewrite, where marked words only distract
ALIKE = 0.4


@dataclass(frozen=True)
class Line:
    kind: Kind
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True)
class Block:
    heading: str
    lines: tuple[Line, ...]


def blocks(patch: str) -> tuple[Block, ...]:
    """The hunks of a patch without file headers, as GitHub gives it. ValueError where it is none."""
    clean = patch.replace("\r\n", "\n").replace("\r", "\N{SYMBOL FOR CARRIAGE RETURN}")
    try:
        files = PatchSet.from_string(f"--- a\n+++ b\n{clean.rstrip(chr(10))}\n")
    except UnidiffParseError as error:
        raise ValueError(str(error)) from error
    found = tuple(_block(hunk) for file in files for hunk in file)
    if not found:
        raise ValueError("no hunk")
    return found


def _block(hunk: Hunk) -> Block:
    span = f"@@ -{hunk.source_start},{hunk.source_length} +{hunk.target_start},{hunk.target_length} @@"
    lines = tuple(
        Line(
            "add" if line.is_added else "del" if line.is_removed else "",
            line.source_line_no,
            line.target_line_no,
            line.value.rstrip("\n"),
        )
        for line in hunk
        if line.line_type in {" ", "+", "-"}
    )
    return Block(f"{span} {hunk.section_header}".rstrip(), lines)


def _lexer(path: str, patch: str) -> Lexer:
    options = {"stripnl": False, "ensurenl": True}
    if len(patch) > MOST_COLOURED:
        return TextLexer(**options)
    try:
        lexer: Lexer = get_lexer_for_filename(path.rsplit("/", 1)[-1], **options)
    except ClassNotFound:
        lexer = TextLexer(**options)
    return lexer


@lru_cache(maxsize=512)
def _class(kind: _TokenType) -> str:
    return next((name for parent, name in CLASSES if kind in parent), "")


def _coloured(lexer: Lexer, lines: list[str]) -> list[list[Segment]]:
    """Segments line by line. A hunk starts anywhere, so this is a reading, not a proof."""
    out: list[list[Segment]] = [[]]
    for kind, value in lexer.get_tokens("\n".join(lines)):
        name = _class(kind)
        for position, piece in enumerate(value.split("\n")):
            if position:
                out.append([])
            if piece and out[-1] and out[-1][-1][0] == name:
                out[-1][-1] = (name, out[-1][-1][1] + piece)
            elif piece:
                out[-1].append((name, piece))
    return out if len(out) > len(lines) else out + [[] for _ in range(len(lines) - len(out))]


def _changed(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """The words that differ, as character spans of the old and of the new line."""
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return [], []
    a, b = WORD.findall(old), WORD.findall(new)
    match = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if match.ratio() < ALIKE:
        return [], []
    codes = [code for code in match.get_opcodes() if code[0] != "equal"]
    return _spans(a, [code[1:3] for code in codes]), _spans(b, [code[3:5] for code in codes])


def _spans(words: list[str], ranges: list[tuple[int, int]]) -> list[Span]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return [(starts[low], starts[high]) for low, high in ranges if high > low]


def _pairs(lines: tuple[Line, ...]) -> Iterator[tuple[int, int]]:
    """Removed and added lines that stand for each other: a run followed by one of equal length."""
    at = 0
    while at < len(lines):
        gone = _run(lines, at, "del")
        come = _run(lines, at + gone, "add")
        if 0 < gone <= MOST_COMPARED and gone == come:
            yield from ((at + step, at + gone + step) for step in range(gone))
        at += max(1, gone + come)


def _run(lines: tuple[Line, ...], start: int, kind: Kind) -> int:
    end = start
    while end < len(lines) and lines[end].kind == kind:
        end += 1
    return end - start


def _marked(segments: list[Segment], spans: list[Span]) -> str:
    """HTML of a line: syntax classes, and `w` on the words that changed."""
    if not spans:
        return "".join(_piece(name, text) for name, text in segments)
    out, position = [], 0
    for name, text in segments:
        cuts = {0, len(text)}
        for low, high in spans:
            cuts |= {min(max(edge - position, 0), len(text)) for edge in (low, high)}
        edges = sorted(cuts)
        for low, high in pairwise(edges):
            inside = any(a <= position + low < b for a, b in spans)
            names = " ".join(filter(None, (name, "w" if inside else "")))
            out.append(_piece(names, text[low:high]))
        position += len(text)
    return "".join(out)


def _piece(names: str, text: str) -> str:
    return f'<span class="{names}">{html.escape(text)}</span>' if names else html.escape(text)


def _rows(block: Block, *, lexer: Lexer, prefix: str) -> Iterator[str]:
    yield f'<tr class="hk"><td colspan="5">{html.escape(block.heading)}</td></tr>'
    olds = _coloured(lexer, [line.text for line in block.lines if line.kind != "add"])
    news = _coloured(lexer, [line.text for line in block.lines if line.kind != "del"])
    spans: dict[int, list[Span]] = {}
    for gone, come in islice(_pairs(block.lines), MOST_PAIRS):
        spans[gone], spans[come] = _changed(block.lines[gone].text, block.lines[come].text)
    old_at = new_at = 0
    for index, line in enumerate(block.lines):
        segments = olds[old_at] if line.kind == "del" else news[new_at]
        old_at, new_at = old_at + (line.kind != "add"), new_at + (line.kind != "del")
        yield _row(line, prefix=prefix, code=_marked(segments, spans.get(index, [])))


def _row(line: Line, *, prefix: str, code: str) -> str:
    """Short on purpose: a page carries hundreds of these."""
    side = f"o{line.old}" if line.kind == "del" else f"n{line.new}"
    kind = f" class={line.kind}" if line.kind else ""
    return f"<tr id={prefix}{side}{kind}><td>{line.old or ''}<td>{line.new or ''}<td><td>{SIGNS[line.kind]}<td>{code}"


@lru_cache(maxsize=256)
def table(prefix: str, path: str, patch: str) -> SafeString:
    """Rows of the diff of `path`; each line's anchor is prefix + `o` or `n` + its number."""
    try:
        found = blocks(patch)
    except ValueError:
        return plain(patch)
    lexer = _lexer(path, patch)
    rows = "".join(row for block in found for row in _rows(block, lexer=lexer, prefix=prefix))
    return mark_safe(f'<table class="diff"><tbody>{rows}</tbody></table>')


def plain(patch: str) -> SafeString:
    """What cannot be read as a patch is shown as it stands."""
    return mark_safe(f'<pre class="diff-plain">{html.escape(patch)}</pre>')
