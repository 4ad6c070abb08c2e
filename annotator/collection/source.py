"""What people read of an item: its copy as it was fetched, and the columns of the sheet it came from."""

import datetime as dt
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.db.models import OuterRef, Subquery
from django.utils.safestring import SafeString

from annotator.collection import prepared
from annotator.collection.models import ChangedFile, Commit, Edit, Item
from annotator.web import diff
from annotator.web.markdown import render

SHOWN_AT_ONCE = 40_000  # characters of patches; what is beyond opens on demand


@dataclass(frozen=True)
class Column:
    name: str
    value: str
    link: str


@dataclass(frozen=True)
class Turn:
    """One comment."""

    anchor: str
    author: str
    at: dt.datetime | None
    kind: str
    place: str
    place_anchor: str
    body: SafeString


@dataclass(frozen=True)
class File:
    position: int
    path: str
    old_path: str
    status: str
    additions: int
    deletions: int
    has_patch: bool
    table: SafeString | None  # None: opens on demand


@dataclass(frozen=True)
class Source:
    """An item as pages show it."""

    reference: str
    link: str
    kind: str
    title: str
    state: str
    author: str
    opened_at: dt.datetime | None
    closed_at: dt.datetime | None
    merged_at: dt.datetime | None
    fetched_at: dt.datetime | None
    edited_at: dt.datetime | None  # at the source, after the copy was made
    columns: tuple[Column, ...]
    labels: tuple[str, ...] = ()
    body: SafeString | None = None
    turns: tuple[Turn, ...] = ()
    files: tuple[File, ...] = ()
    commits: tuple[Commit, ...] = field(default=())

    @property
    def additions(self) -> int:
        return sum(file.additions for file in self.files)

    @property
    def deletions(self) -> int:
        return sum(file.deletions for file in self.files)


def last_edit(item: str) -> Subquery:
    """When the item that this column names was last edited at its source: an annotation, so that no query is added."""
    return Subquery(Edit.objects.filter(item=OuterRef(item)).order_by("-edited_at").values("edited_at")[:1])


def source_of(item: Item, ordinal: int = 1, *, edited_at: dt.datetime | None = None) -> Source:
    """Of the item's nth bug. One query where there is no copy, four where there is; its text comes with the item."""
    files = _files(item) if item.fetched_at else ()
    return Source(
        reference=item.reference,
        link=safe_link(item.url),
        kind=item.get_kind_display(),
        title=item.title or item.reference,
        state="merged" if item.merged_at else item.state,
        author=item.author,
        opened_at=item.opened_at,
        closed_at=item.closed_at,
        merged_at=item.merged_at,
        fetched_at=item.fetched_at,
        edited_at=edited_at if item.fetched_at else None,
        columns=_columns(item, ordinal),
        labels=tuple(map(str, item.labels)),
        body=_body(item),
        turns=_turns(item, files) if item.fetched_at else (),
        files=files,
        commits=tuple(prepared.COMMITS.all(item=item.pk)) if item.fetched_at else (),
    )


def safe_link(url: str) -> str:
    """The address if a browser may follow it, else nothing."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return url.strip() if parts.scheme in {"http", "https"} and parts.netloc else ""


def _columns(item: Item, ordinal: int) -> tuple[Column, ...]:
    context = prepared.CONTEXT.first(item=item.pk, ordinal=ordinal)
    values = context.values if context else {}
    return tuple(
        Column(name, str(value), safe_link(str(value))) for name, value in values.items() if value not in ("", None)
    )


def _body(item: Item) -> SafeString | None:
    text = getattr(item, "text", None)
    return render(text.body) if text and text.body.strip() else None


def _turns(item: Item, files: tuple[File, ...]) -> tuple[Turn, ...]:
    places = {file.path: file.position for file in files}
    return tuple(
        Turn(
            anchor=f"c{comment.position}",
            author=comment.author or "deleted account",
            at=comment.at,
            kind=comment.get_kind_display().lower(),
            place=f"{comment.path}:{comment.line}" if comment.line else comment.path,
            place_anchor=f"f{places[comment.path]}n{comment.line}" if comment.path in places and comment.line else "",
            body=render(comment.body),
        )
        for comment in prepared.COMMENTS.all(item=item.pk)
    )


def _files(item: Item) -> tuple[File, ...]:
    room = SHOWN_AT_ONCE
    out = []
    for changed in prepared.FILES.all(item=item.pk):
        patch = getattr(changed, "patch", None)
        text = patch.text if patch else ""
        shown = bool(text) and len(text) <= room
        room -= len(text) if shown else 0
        out.append(_file(changed, text, shown=shown))
    return tuple(out)


def _file(changed: ChangedFile, text: str, *, shown: bool) -> File:
    return File(
        position=changed.position,
        path=changed.path,
        old_path=changed.old_path if changed.old_path != changed.path else "",
        status=changed.status,
        additions=changed.additions,
        deletions=changed.deletions,
        has_patch=bool(text),
        table=_table(changed, text) if shown else None,
    )


def _table(changed: ChangedFile, text: str) -> SafeString:
    return diff.table(f"f{changed.position}", changed.path, text)


def file_of(item: Item, position: int) -> tuple[ChangedFile, SafeString] | None:
    """One file of the copy with its diff, for those that open on demand."""
    changed = (
        ChangedFile.objects.filter(item=item, position=position, patch__isnull=False).select_related("patch").first()
    )
    return (changed, _table(changed, changed.patch.text)) if changed else None
