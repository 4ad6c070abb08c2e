"""The whole thread of an item, for its own page: linked items with their text, later edits, remarks at their lines."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from typing import Any
from urllib.parse import quote

from django.urls import reverse
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe

from annotator.collection import prepared
from annotator.collection.models import ChangedFile, Edit, Item, Link
from annotator.collection.source import MENTIONS, NOBODY, RANKS, File, Source, Turn
from annotator.studies.models import Study
from annotator.web import diff
from annotator.web.markdown import render

ON_FORGE = re.compile(r"(https?://[^/\s]+/[^/\s]+/[^/\s]+)/(?:pull|issues)/\d+")
EXCERPT = 160
MOST_BACK = 50  # of those that link here
MOST_CHANGES = 60  # of an edit


@dataclass(frozen=True)
class Other:
    """A linked item: what it is to this one, and its text where it is held."""

    words: str
    reference: str
    title: str
    url: str
    copy: str
    state: str
    body: SafeString | None


@dataclass(frozen=True)
class Change:
    """One part that was changed later."""

    title: str
    table: SafeString | None


@dataclass(frozen=True)
class Later:
    """An edit of a day, against the frozen copy."""

    edited_at: dt.datetime
    seen_at: dt.datetime
    changes: tuple[Change, ...]
    left_out: int


@dataclass(frozen=True)
class Thread:
    others: tuple[Other, ...]
    edits: tuple[Later, ...]  # the newest first
    files: tuple[ChangedFile, ...]  # beyond those of the page


def thread_of(study: Study, item: Item, source: Source) -> tuple[Source, Thread]:
    """With remarks at the lines they speak of, and with each file's address at the last commit."""
    files = tuple(_at_its_commit(file, item, source) for file in _with_remarks(source.files, source.turns))
    shown = replace(source, files=files, links=())
    more = ChangedFile.objects.filter(item=item)[prepared.MOST_FILES :] if source.left_out else ()
    return shown, Thread(tuple(_others(study, item)), tuple(_edits(item)), tuple(more))


# --- linked items


def _others(study: Study, item: Item) -> Iterator[Other]:
    rows = Link.objects.select_related("target__repository", "target__text", "item__repository", "item__text")
    here = sorted(rows.filter(item=item), key=lambda link: (RANKS[link.source], link.pk))
    closes = "closed by" if item.kind == Item.Kind.ISSUE else "closes"
    for link in here:
        yield _other(study, link, link.target, MENTIONS if link.source == Link.Source.MENTION else closes)
    known = {link.target_id for link in here}
    for link in rows.filter(target=item).order_by("pk")[:MOST_BACK]:
        if link.item_id not in known:
            known.add(link.item_id)
            closed = "closes" if link.item.kind == Item.Kind.ISSUE else "closed by"
            yield _other(study, link, link.item, "mentioned by" if link.source == Link.Source.MENTION else closed)


def _other(study: Study, link: Link, held: Item | None, words: str) -> Other:
    text = getattr(held, "text", None)
    return Other(
        words=words,
        reference=held.reference if held else str(link),
        title=(held.title if held else "") or link.title,
        url=held.url if held and held.url else f"https://{link.host}/{link.owner}/{link.name}/issues/{link.number}",
        copy=reverse("collection:item", args=[study.slug, held.identity]) if held else "",
        state=held.state if held else "",
        body=render(text.body) if text and text.body.strip() else None,
    )


# --- the diff


def _with_remarks(files: Sequence[File], turns: Sequence[Turn]) -> Iterator[File]:
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.place_anchor:
            said.setdefault(turn.place_anchor, []).append(turn)
    for file in files:
        mine = {anchor: some for anchor, some in said.items() if anchor.startswith(f"f{file.position}n")}
        yield replace(file, table=noted(file.table, mine)) if mine and file.table else file


def noted(table: SafeString, said: Mapping[str, Iterable[Turn]]) -> SafeString:
    """Each remark in a row of its own below the line it speaks of."""
    text = str(table)
    for anchor, turns in said.items():
        found = re.search(rf"<tr id={re.escape(anchor)}[ >].*?(?=<tr |</tbody>)", text, re.DOTALL)
        if found:
            rows = "".join(map(_remark, turns))
            text = f"{text[: found.end()]}{rows}{text[found.end() :]}"
    return mark_safe(text)  # a table of ours, with rows that format_html made


def _remark(turn: Turn) -> SafeString:
    words = " ".join(unescape(strip_tags(turn.body)).split())
    excerpt = f"{words[:EXCERPT]}…" if len(words) > EXCERPT else words
    row = '<tr class="said"><td colspan="5"><a href="#{}">{}</a> {}'
    return format_html(row, turn.anchor, turn.author, excerpt)


def _at_its_commit(file: File, item: Item, source: Source) -> File:
    """The file as it was at the last commit, at its source: a copy holds what changed, not whole files."""
    base = ON_FORGE.match(item.url)
    if not base or not source.commits or file.status == "removed":
        return file
    sha = source.commits[-1].sha
    return replace(file, link=f"{base[1]}/blob/{quote(sha)}/{quote(file.path)}", sha=sha[:10])


# --- later edits


def _edits(item: Item) -> Iterator[Later]:
    for number, edit in enumerate(Edit.objects.filter(item=item).order_by("-edited_at")):
        changes = [_change(f"e{number}c{place}", change) for place, change in enumerate(edit.changes[:MOST_CHANGES])]
        yield Later(edit.edited_at, edit.seen_at, tuple(changes), max(0, len(edit.changes) - MOST_CHANGES))


def _change(prefix: str, change: Mapping[str, Any]) -> Change:
    title = str(change.get("part", "")).capitalize()
    if what := change.get("what"):
        at = str(change.get("at", ""))[:10]
        title = f"{title} of {change.get('author') or NOBODY}{f', {at}' if at else ''}: {what}"
    patch = str(change.get("diff", ""))
    return Change(title, diff.table(prefix, "", patch) if patch else None)
