"""What people read of an item: its copy as it was fetched, and the columns of the sheet it came from."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Aggregate, Count, F, JSONField, OuterRef, Subquery, Sum, Value
from django.db.models.functions import Coalesce, JSONObject, NullIf
from django.urls import reverse
from django.utils.safestring import SafeString

from annotator.collection import prepared
from annotator.collection.models import ChangedFile, Comment, Commit, Edit, Item, Link
from annotator.web import diff
from annotator.web.markdown import render

SHOWN_AT_ONCE = 40_000  # characters of patches; what is beyond opens on demand
NOBODY = "deleted account"
MENTIONS = "mentions"
RANKS = {Link.Source.CLOSING.value: 0, Link.Source.KEYWORD.value: 1, Link.Source.MENTION.value: 2}


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
    verdict: str = ""  # of a review


@dataclass(frozen=True)
class Linked:
    """Another item that this one closes, is closed by, or mentions."""

    words: str
    reference: str
    title: str
    url: str  # at its source
    copy: str  # the page of its copy, where it is held


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
    link: str = ""  # of the whole file at its source, at the last commit
    sha: str = ""


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
    links: tuple[Linked, ...] = ()
    left_out: int = 0  # files beyond the first ones
    additions: int = 0
    deletions: int = 0

    @property
    def closings(self) -> tuple[Linked, ...]:
        return tuple(one for one in self.links if one.words != MENTIONS)

    @property
    def mentions(self) -> tuple[Linked, ...]:
        return tuple(one for one in self.links if one.words == MENTIONS)

    @property
    def files_count(self) -> int:
        return len(self.files) + self.left_out


def last_edit(item: str) -> Subquery:
    """When the item that this column names was last edited at its source: an annotation, so that no query is added."""
    return Subquery(Edit.objects.filter(item=OuterRef(item)).order_by("-edited_at").values("edited_at")[:1])


class AsList(Aggregate):
    """Rows as one JSON list."""

    function = "JSON_GROUP_ARRAY"
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_AGG", **more)


def links_of(item: str) -> Subquery:
    """What the item that this column names says about others: an annotation, so that no query is added."""
    title = Coalesce(NullIf("title", Value("")), "target__title", Value(""))
    named = {name: F(name) for name in ("source", "host", "owner", "name", "number")}
    one = JSONObject(**named, title=title, target="target__identity", study="item__study__slug", kind="item__kind")
    rows = Link.objects.filter(item=OuterRef(item)).order_by().values("item").annotate(all=AsList(one))
    return Subquery(rows.values("all"))


def source_of(
    item: Item,
    ordinal: int = 1,
    *,
    edited_at: dt.datetime | None = None,
    links: Iterable[Mapping[str, Any]] | None = None,
) -> Source:
    """Of the item's nth bug. One query where there is no copy, four where there is; its text comes with the item.

    `edited_at` and `links` are what `last_edit` and `links_of` annotated.
    """
    files = _files(item) if item.fetched_at else ()
    count, additions, deletions = _counted(item, files)
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
        links=_links(links or ()),
        left_out=count - len(files),
        additions=additions,
        deletions=deletions,
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
            author=comment.author or NOBODY,
            at=comment.at,
            kind=comment.get_kind_display().lower(),
            place=f"{comment.path}:{comment.line}" if comment.line else comment.path,
            place_anchor=f"f{places[comment.path]}n{comment.line}" if comment.path in places and comment.line else "",
            body=render(comment.body),
            verdict=_verdict(comment),
        )
        for comment in prepared.COMMENTS.all(item=item.pk)
    )


VERDICTS = {
    "approved": "approved",
    "changes_requested": "asked for changes",
    "dismissed": "a verdict that was dismissed",
}


def _verdict(comment: Comment) -> str:
    return VERDICTS.get(comment.verdict, "")


def _links(rows: Iterable[Mapping[str, Any]]) -> tuple[Linked, ...]:
    ranked = sorted(rows, key=lambda row: (RANKS[row["source"]], row["owner"], row["name"], row["number"]))
    return tuple(map(_linked, ranked))


def _linked(row: Mapping[str, Any]) -> Linked:
    place = f"{row['owner']}/{row['name']}"
    closes = "closed by" if row["kind"] == Item.Kind.ISSUE else "closes"
    return Linked(
        words=MENTIONS if row["source"] == Link.Source.MENTION else closes,
        reference=f"{place}#{row['number']}",
        title=row["title"],
        url=f"https://{row['host']}/{place}/issues/{row['number']}",  # GitHub leads from there to a pull request
        copy=reverse("collection:item", args=[row["study"], row["target"]]) if row["target"] else "",
    )


def _counted(item: Item, files: tuple[File, ...]) -> tuple[int, int, int]:
    """How many files, and their changed lines: counted in the database only where not all of them are here."""
    if len(files) < prepared.MOST_FILES:
        return len(files), sum(file.additions for file in files), sum(file.deletions for file in files)
    whole = ChangedFile.objects.filter(item=item).aggregate(Count("pk"), Sum("additions"), Sum("deletions"))
    return whole["pk__count"], whole["additions__sum"], whole["deletions__sum"]


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
