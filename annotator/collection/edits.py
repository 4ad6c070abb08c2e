"""Later edits: what GitHub shows now, against the frozen copy, kept beside it as unified diffs."""

import datetime as dt
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Max
from django.utils import timezone

from annotator.clients.github.copies import CommentCopy, Copy, FileCopy, FilesCopy, Glance, PullRequestCopy
from annotator.clients.github.errors import Broken, Gone
from annotator.collection.models import Comment, Edit, Finding, Item, Repository
from annotator.history.actions import record

if TYPE_CHECKING:
    from annotator.collection.harvesting import Harvester

TOGETHER = 50
KINDS = {"comment": "comment", "review": "review", "inline": "review comment"}
Change = dict[str, Any]


# --- which ones, and what they are now


def follow(run: "Harvester", repository: Repository, hits: Sequence[Glance]) -> None:
    """Of a page that was looked through again: what was edited is asked for, and kept item by item."""
    seen = {glance.number: glance.updated_at for glance in hits if glance.updated_at}
    waiting = list(_edited(run, repository, seen))
    for start in range(0, len(waiting), TOGETHER):
        _ask(run, repository, waiting[start : start + TOGETHER])


def _edited(run: "Harvester", repository: Repository, seen: dict[int, dt.datetime]) -> Iterator[Finding]:
    """Findings whose copy is older than what is there now, and that were not looked at since."""
    rows = Finding.objects.filter(harvest=run.harvest, repository=repository, number__in=seen, updated_at__isnull=False)
    for finding in rows.filter(state=Finding.State.FETCHED).select_related("item").order_by("number"):
        later = seen[finding.number]
        if later > (finding.edited_at or finding.updated_at or later):
            yield finding


def _ask(run: "Harvester", repository: Repository, findings: Sequence[Finding]) -> None:
    name = f"{repository.owner}/{repository.name}"
    answers = run.github.fetch_many(name, [finding.number for finding in findings])
    kept = 0
    for finding in findings:
        copy = answers[finding.number]
        if isinstance(copy, Gone | Broken):
            continue  # the copy stays; it is asked for again by the next refresh
        copy = run.github.complete(copy) if copy.missing else copy
        files = _files(run, name, finding, copy)
        with run.held():
            kept += finding.item is not None and keep_edit(item=finding.item, copy=copy, files=files)
            Finding.objects.filter(pk=finding.pk).update(edited_at=copy.updated_at)
    tell(run, kept)


def _files(run: "Harvester", name: str, finding: Finding, copy: Copy) -> FilesCopy | None:
    """Only where commits came in since; by the ETag of the copy GitHub says at no cost that they changed nothing."""
    item = finding.item
    if item is None or not isinstance(copy, PullRequestCopy) or _shas(item) == [commit.sha for commit in copy.commits]:
        return None
    try:
        files = run.github.files(name, finding.number, expected=copy.changed_files, etag=finding.etag)
    except (Gone, Broken):
        return None
    return None if files.is_unchanged else files


def compare(run: "Harvester", repository: Repository, copies: Sequence[Copy]) -> None:
    """Hits that an earlier harvest holds: their page shows at no further cost what was edited since."""
    by_number = {copy.number: copy for copy in copies if not copy.missing and copy.updated_at}
    held = Item.objects.filter(repository=repository, number__in=by_number, fetched_at__isnull=False)
    seen = Finding.objects.filter(item__in=held).values("item").annotate(at=Max("updated_at"), later=Max("edited_at"))
    last = {row["item"]: max(filter(None, (row["at"], row["later"])), default=None) for row in seen}
    kept = 0
    for item in held.select_related("text").prefetch_related("comments", "commits") if last else ():
        copy, before = by_number[item.number or 0], last.get(item.pk)
        if before and copy.updated_at and copy.updated_at > before:
            kept += keep_edit(item=item, copy=copy)
    tell(run, kept)


def tell(run: "Harvester", kept: int) -> None:
    if kept:
        record(
            "found later edits",
            by=run.harvest.created_by,
            kind="harvest",
            object_id=run.harvest.pk,
            label=str(run.harvest),
            study_id=run.harvest.study_id,
            new={"edits": kept},
        )


# --- against the copy


def keep_edit(*, item: Item, copy: Copy, files: FilesCopy | None = None) -> bool:
    """False where nothing that the copy holds is different, such as after a reaction."""
    if copy.updated_at is None:
        return False
    changes = list(differences(item, copy, files))
    if not changes:
        return False
    _, is_new = Edit.objects.get_or_create(
        item=item, edited_at=copy.updated_at, defaults={"seen_at": timezone.now(), "changes": changes}
    )
    return is_new


def differences(item: Item, copy: Copy, files: FilesCopy | None) -> Iterator[Change]:
    text = getattr(item, "text", None)
    merged = copy.merged_at if isinstance(copy, PullRequestCopy) else None
    yield from _part("title", item.title, copy.title)
    yield from _part("description", text.body if text else "", copy.body)
    yield from _part("state", item.state, "merged" if merged else copy.state)
    yield from _part("labels", _lines(sorted(item.labels)), _lines(sorted({label.name for label in copy.labels})))
    yield from _discussion(item, copy)
    if isinstance(copy, PullRequestCopy):
        held = [f"{row.sha[:10]} {_first(row.message)}" for row in item.commits.all()]
        now = [f"{commit.sha[:10]} {_first(commit.message)}" for commit in copy.commits]
        yield from _part("commits", _lines(held), _lines(now))
    if files is not None:
        yield from _changed_files(item, files.files)


def _part(part: str, old: str, new: str, **more: str) -> Iterator[Change]:
    if diff := unified(old, new):
        yield {"part": part, "diff": diff, **more}


def unified(old: str, new: str) -> str:
    """Without a head. Line ends of another system are no difference."""
    lines = (old.splitlines(), new.splitlines())
    return "\n".join(list(difflib.unified_diff(*lines, lineterm="", n=3))[2:])


def _lines(entries: Sequence[str]) -> str:
    return "\n".join(entries)


def _first(message: str) -> str:
    return message.partition("\n")[0][:100]


def _shas(item: Item) -> list[str]:
    return list(item.commits.values_list("sha", flat=True))


def _changed_files(item: Item, now: Sequence[FileCopy]) -> Iterator[Change]:
    rows = item.files.select_related("patch")
    held = {row.path: (_file(row), getattr(getattr(row, "patch", None), "text", None)) for row in rows}
    found = {file.path: (_file(file), file.patch) for file in now}
    other = {path for path in held.keys() & found.keys() if held[path] != found[path]}
    told = [
        f"{line} · another diff" if path in other and held[path][0] == line else line
        for path, (line, _) in found.items()
    ]
    yield from _part("files", _lines([line for line, _ in held.values()]), _lines(told))


def _file(file: Any) -> str:
    return f"{file.status} {file.path} +{file.additions} −{file.deletions}"


# --- the discussion


@dataclass(frozen=True)
class Said:
    """A turn, held or there now."""

    id: int
    kind: str
    author: str
    at: dt.datetime | None
    text: str


def _discussion(item: Item, copy: Copy) -> Iterator[Change]:
    held = [_said(row, row.github_id or 0, row.verdict) for row in item.comments.all()]
    now = [_said(turn, turn.id, turn.state[:20]) for turn in copy.comments]
    pairs = _paired(held, now)
    for before in held:
        after = pairs.get(id(before))
        yield from _turn(before, before.text, after.text if after else None)
    met = {id(after) for after in pairs.values()}
    for after in now:
        if id(after) not in met:
            yield from _turn(after, None, after.text)


def _said(turn: Comment | CommentCopy, github_id: int, verdict: str) -> Said:
    text = f"[{verdict.replace('_', ' ')}]\n{turn.body}" if verdict else turn.body
    return Said(github_id, turn.kind, turn.author[:200], turn.at, text)


def _paired(held: Sequence[Said], now: Sequence[Said]) -> dict[int, Said]:
    """By GitHub's id; a turn that was kept without one, by when it was said."""
    by_id = {(turn.kind, turn.id): turn for turn in now if turn.id}
    pairs = {id(turn): by_id[turn.kind, turn.id] for turn in held if (turn.kind, turn.id) in by_id}
    met = {id(turn) for turn in pairs.values()}
    by_time: dict[tuple[str, dt.datetime | None], list[Said]] = {}
    for turn in now:
        if id(turn) not in met:
            by_time.setdefault((turn.kind, turn.at), []).append(turn)
    for turn in held:
        same = by_time.get((turn.kind, turn.at), [])
        if id(turn) not in pairs and not turn.id and same:
            pairs[id(turn)] = same.pop(0)
    return pairs


def _turn(turn: Said, old: str | None, new: str | None) -> Iterator[Change]:
    what = "added" if old is None else "removed" if new is None else "changed"
    at = turn.at.isoformat() if turn.at else ""
    more = {"what": what, "author": turn.author, "at": at}
    if what == "changed" or old or new:
        yield from _part(KINDS[turn.kind], old or "", new or "", **more)
    else:  # a review without a word
        yield {"part": KINDS[turn.kind], "diff": "", **more}
