"""What a page of hits left out of one copy, fetched and put in its place."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from annotator.clients.github import parse
from annotator.clients.github.copies import CommentCopy, Copy, IssueCopy, Missing, PullRequestCopy

Rest = Callable[[Copy, Missing], Iterator[parse.Node]]
Inline = Callable[[str, int], tuple[CommentCopy, ...]]


def completed(copy: Copy, *, rest: Rest, inline: Inline) -> Copy:
    for gap in copy.missing:
        if gap.what != "reviewComments":
            copy = _filled(copy, gap, list(rest(copy, gap)))
    gap_inline = _gap(copy, "reviewComments")
    if gap_inline is None or isinstance(copy, IssueCopy):
        return copy
    return _with_inline(copy, gap_inline, inline(copy.repository, copy.number))


def _filled(copy: Copy, gap: Missing, connections: list[parse.Node]) -> Copy:
    notes = parse.Notes()
    entries = [entry for connection in connections for entry in parse.nodes({"all": connection}, "all")]
    held = gap.held + len(entries)
    left = [replace(gap, held=held, after="")] if held < gap.total else []
    copy = _extended(copy, gap.what, entries, notes)
    missing = (*(other for other in copy.missing if other.what != gap.what), *left)
    return replace(copy, missing=missing, notes=tuple(dict.fromkeys(copy.notes + notes.said())))


def _extended(copy: Copy, what: str, entries: list[parse.Node], notes: parse.Notes) -> Copy:
    if what == "labels":
        return replace(copy, labels=copy.labels + tuple(parse.label(entry, notes) for entry in entries))
    if what == "comments":
        return replace(copy, comments=merged(copy.comments, (parse.comment(entry, notes) for entry in entries)))
    if what == "reviews":
        return _with_reviews(copy, entries, notes)
    if what == "commits" and isinstance(copy, PullRequestCopy):
        return replace(copy, commits=copy.commits + tuple(parse.commit(entry, notes) for entry in entries))
    return replace(copy, links=copy.links + tuple(parse.link(entry, notes) for entry in entries))


def _with_reviews(copy: Copy, entries: list[parse.Node], notes: parse.Notes) -> Copy:
    said = parse.turns({"reviews": {"nodes": entries}}, notes)
    comments = merged(copy.comments, said)
    promised = sum(parse.whole(parse.below(entry, "comments", "totalCount")) for entry in entries)
    before = _gap(copy, "reviewComments")
    total = max(before.total if before else 0, _inline(copy.comments) + promised)
    others = tuple(other for other in copy.missing if other is not before)
    return replace(copy, comments=comments, missing=others + _short_of_inline(comments, total))


def _with_inline(copy: Copy, gap: Missing, notes_of_rest: tuple[CommentCopy, ...]) -> Copy:
    comments = merged(copy.comments, notes_of_rest)
    others = tuple(other for other in copy.missing if other is not gap)
    return replace(copy, comments=comments, missing=others + _short_of_inline(comments, gap.total))


def _short_of_inline(comments: tuple[CommentCopy, ...], total: int) -> tuple[Missing, ...]:
    held = _inline(comments)
    return (Missing("reviewComments", held, total),) if held < total else ()


def _inline(comments: tuple[CommentCopy, ...]) -> int:
    return sum(turn.kind == "inline" for turn in comments)


def _gap(copy: Copy, what: str) -> Missing | None:
    return next((gap for gap in copy.missing if gap.what == what), None)


def merged(held: tuple[CommentCopy, ...], more: Iterable[CommentCopy]) -> tuple[CommentCopy, ...]:
    """Each turn once, by GitHub's id; one without an id is kept beside the others."""
    known = {(turn.kind, turn.id) for turn in held if turn.id}
    return parse.in_time([*held, *(turn for turn in more if (turn.kind, turn.id) not in known)])
