"""Markdown of pull requests and comments, made safe: that text is hostile."""

from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

TAGS = {
    *("p", "br", "hr", "h3", "a", "b", "strong", "i", "em", "s", "del", "ins", "sub", "sup", "kbd"),
    *("code", "pre", "blockquote", "ul", "ol", "li", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "details": {"open"}}
SCHEMES = {"http", "https", "mailto"}


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """Pictures are not loaded (a page of ours calls nobody else): a link stands in."""
    token = tokens[index]
    words = renderer.renderInlineAsText(token.children or [], options, env) or "image"
    return f'<a href="{escape(token.attrGet("src") or "")}">[{escape(words)}]</a>'


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True, "linkify": False, "breaks": True})
    reader.enable(["table", "strikethrough"])
    reader.add_render_rule("image", _image)
    return reader


_READER = _reader()


def _level_headings(tokens: Sequence[Token]) -> None:
    """One heading level for all: they sit below a section of the page, in its outline."""
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = "h3"


@lru_cache(maxsize=512)
def render(text: str) -> SafeString:
    """HTML of `text` with nothing in it that runs, loads or styles."""
    env: dict[str, Any] = {}
    tokens = _READER.parse(text.replace("\x00", "\N{REPLACEMENT CHARACTER}"), env)
    _level_headings(tokens)
    html = _READER.renderer.render(tokens, _READER.options, env)
    return mark_safe(  # sanitised on this very line
        nh3.clean(
            html,
            tags=TAGS,
            attributes=ATTRIBUTES,
            url_schemes=SCHEMES,
            link_rel="nofollow noopener noreferrer",
        )
    )
