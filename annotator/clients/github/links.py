"""Which issues and pull requests a text names: those that it closes, in GitHub's spellings, and others.

"Fixes #12", "closes: owner/name#3", "resolved GH-7", "fix <url>".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

NAME = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"
WORD = r"(?<![\w-])(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?)(?::\s*|\s+)"
PLACE = (
    rf"(?:(?P<name>{NAME})?#(?P<number>\d{{1,10}})|GH-(?P<gh>\d{{1,10}})"
    rf"|https?://(?P<host>[^\s/]+)/(?P<path>{NAME})/(?:issues|pull)/(?P<at>\d{{1,10}}))(?!\w)"
)
CLOSING = re.compile(WORD + PLACE, re.IGNORECASE)
NAMED = re.compile(r"(?<![\w/#&.-])" + PLACE, re.IGNORECASE)
ANY = re.compile(r"#\d|GH-\d|/(?:issues|pull)/\d", re.IGNORECASE)  # most texts name nothing and need no reading
MARKDOWN = MarkdownIt("commonmark")
MOST = 100  # of one text


@dataclass(frozen=True, order=True)
class Reference:
    repository: str  # lower case: GitHub's names differ in no case
    number: int
    host: str = ""  # empty: the one on which the text stands


def closes(text: str, *, repository: str, is_markdown: bool = True) -> tuple[Reference, ...]:
    """In the order of the text, each once; comments, code and quotations don't count, as on GitHub."""
    return _found(CLOSING, text, repository=repository, is_markdown=is_markdown)


def names(text: str, *, repository: str) -> tuple[Reference, ...]:
    """Whatever it names in any way."""
    return _found(NAMED, text, repository=repository, is_markdown=True)


def _found(wanted: re.Pattern[str], text: str, *, repository: str, is_markdown: bool) -> tuple[Reference, ...]:
    if not ANY.search(text):
        return ()
    read = _read(text) if is_markdown else text
    references = (_reference(match, repository) for match in wanted.finditer(read))
    return tuple(dict.fromkeys(reference for reference in references if reference.number))[:MOST]


def _reference(match: re.Match[str], repository: str) -> Reference:
    host = (match["host"] or "").lower().removeprefix("www.")
    name = match["name"] or match["path"] or repository
    return Reference(name.lower(), int(match["number"] or match["gh"] or match["at"]), host)


@lru_cache(maxsize=4)
def _read(text: str) -> str:
    return "\n".join(_spoken(MARKDOWN.parse(text)))


def _spoken(tokens: list[Token]) -> Iterator[str]:
    """The text of each paragraph that is neither quoted nor code."""
    quoted = 0
    for token in tokens:
        quoted += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type == "inline" and not quoted:
            yield "".join(_words(child) for child in token.children or ())


def _words(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type in ("text", "text_special"):
        return token.content
    return "" if token.nesting or token.type == "html_inline" else " ` "
