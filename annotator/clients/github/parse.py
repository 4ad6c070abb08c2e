"""From GitHub's answers to copies. Whatever may be null is; what a database can't hold is taken out with a note."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from annotator.clients.github.copies import (
    CommentCopy,
    CommitCopy,
    Copy,
    FileCopy,
    Glance,
    IssueCopy,
    LabelCopy,
    LinkCopy,
    Missing,
    PullRequestCopy,
    RepositoryCopy,
)

Node = Mapping[str, Any]
T = TypeVar("T")

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Notes:
    """Cleans text and remembers what was taken out of which field."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}

    def text(self, value: object, field: str) -> str:
        text = value if isinstance(value, str) else ""
        if "\x00" in text:
            self._said[f"NUL removed from {field}"] = None
            text = text.replace("\x00", "")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            self._said[f"half a character replaced in {field}"] = None
            text = _whole(text)
        return text

    def said(self) -> tuple[str, ...]:
        return tuple(self._said)


def _whole(text: str) -> str:
    """Pairs of surrogates joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def moment(value: object) -> datetime | None:
    if not isinstance(value, str) or not value:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def whole(value: object) -> int:
    """A number that may come as text (BigInt), or not at all."""
    try:
        return int(value)  # type: ignore[call-overload,no-any-return]  # anything else is 0, below
    except (TypeError, ValueError):
        return 0


def below(node: Node | None, *names: str) -> Any:
    """node[a][b][c], None as soon as one isn't there."""
    found: Any = node
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def nodes(node: Node, name: str) -> list[Node]:
    listed = below(node, name, "nodes")
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def person(actor: object) -> str:
    """The login; REST and GraphQL name a bot alike. Empty: the account was deleted."""
    if not isinstance(actor, Mapping):
        return ""
    login = str(actor.get("login") or "")
    is_bot = actor.get("__typename") == "Bot" and not login.endswith("[bot]")
    return f"{login}[bot]" if is_bot else login


def thread(node: Node) -> Copy:
    """A PullRequest or an Issue, with the lists as far as they came."""
    notes = Notes()
    shared = _shared(node, notes)
    if node.get("__typename") == "Issue":
        reason = str(node.get("stateReason") or "").lower()
        return IssueCopy(**shared, notes=notes.said(), state_reason=reason)
    return PullRequestCopy(**shared, **_pull(node, notes), notes=notes.said())


def _shared(node: Node, notes: Notes) -> dict[str, Any]:
    comments = turns(node, notes)
    return {
        "id": whole(node.get("fullDatabaseId")),
        "node_id": str(node.get("id") or ""),
        "repository": str(below(node, "repository", "nameWithOwner") or ""),
        "repository_id": below(node, "repository", "databaseId"),
        "number": whole(node.get("number")),
        "url": str(node.get("url") or ""),
        "title": notes.text(node.get("title"), "title"),
        "body": notes.text(node.get("body"), "body"),
        "state": str(node.get("state") or node.get("issueState") or "").lower(),
        "author": person(node.get("author")),
        "opened_at": moment(node.get("createdAt")),
        "updated_at": moment(node.get("updatedAt")),
        "closed_at": moment(node.get("closedAt")),
        "labels": tuple(label(entry, notes) for entry in nodes(node, "labels")),
        "comments": comments,
        "links": tuple(link(entry, notes) for entry in _links(node)),
        "missing": missing(node, comments),
    }


def _pull(node: Node, notes: Notes) -> dict[str, Any]:
    return {
        "merged_at": moment(node.get("mergedAt")),
        "merged_by": person(node.get("mergedBy")),
        "base": str(node.get("baseRefName") or ""),
        "base_sha": str(node.get("baseRefOid") or ""),
        "head": str(node.get("headRefName") or ""),
        "head_sha": str(node.get("headRefOid") or ""),
        "head_repository": str(below(node, "headRepository", "nameWithOwner") or ""),
        "merge_sha": str(below(node, "mergeCommit", "oid") or ""),
        "additions": whole(node.get("additions")),
        "deletions": whole(node.get("deletions")),
        "changed_files": whole(node.get("changedFiles")),
        "commits": tuple(commit(entry, notes) for entry in nodes(node, "commits")),
    }


LINK_LISTS = ("closingIssuesReferences", "closedByPullRequestsReferences")
HELD_LISTS = ("labels", "comments", "commits", "reviews", *LINK_LISTS)


def _links(node: Node) -> list[Node]:
    return [entry for name in LINK_LISTS for entry in nodes(node, name)]


def missing(node: Node, comments: tuple[CommentCopy, ...]) -> tuple[Missing, ...]:
    """Which lists came short. A list that GitHub answered with null counts as one that misses something."""
    found = []
    for name in HELD_LISTS:
        if name not in node:
            continue
        held, total = len(nodes(node, name)), below(node, name, "totalCount")
        if total is None or held < total:
            cursor = str(below(node, name, "pageInfo", "endCursor") or "")
            found.append(Missing(name, held, max(held + 1, whole(total)), cursor))
    return (*found, *missing_inline(node, comments))


def missing_inline(node: Node, comments: tuple[CommentCopy, ...]) -> list[Missing]:
    """Review comments that are known to exist and are not held, by GitHub's two ways of counting them."""
    inline = sum(turn.kind == "inline" for turn in comments)
    of_reviews = sum(whole(below(review, "comments", "totalCount")) for review in nodes(node, "reviews"))
    issue_comments = max(whole(below(node, "comments", "totalCount")), len(nodes(node, "comments")))
    spoken = sum(turn.kind == "review" and bool(turn.body) for turn in comments)
    unexplained = whole(node.get("totalCommentsCount")) - issue_comments - spoken
    total = max(of_reviews, unexplained)
    return [Missing("reviewComments", inline, total)] if total > inline else []


def turns(node: Node, notes: Notes) -> tuple[CommentCopy, ...]:
    """Comments, reviews and the reviews' inline comments, in the order of their time."""
    said = [comment(entry, notes) for entry in nodes(node, "comments")]
    for entry in nodes(node, "reviews"):
        said.append(review(entry, notes))
        said += [inline(note, notes) for note in nodes(entry, "comments")]
    return in_time(said)


def in_time(said: list[CommentCopy]) -> tuple[CommentCopy, ...]:
    never = datetime.max.replace(tzinfo=UTC)
    return tuple(sorted(said, key=lambda turn: (turn.at or never, turn.id)))


def comment(node: Node, notes: Notes) -> CommentCopy:
    return CommentCopy(
        kind="comment",
        id=whole(node.get("fullDatabaseId")),
        author=person(node.get("author")),
        at=moment(node.get("createdAt")),
        body=notes.text(node.get("body"), "a comment"),
        url=str(node.get("url") or ""),
    )


def review(node: Node, notes: Notes) -> CommentCopy:
    return CommentCopy(
        kind="review",
        id=whole(node.get("fullDatabaseId")),
        author=person(node.get("author")),
        at=moment(node.get("submittedAt")) or moment(node.get("createdAt")),
        body=notes.text(node.get("body"), "a review"),
        state=str(node.get("state") or "").lower(),
        url=str(node.get("url") or ""),
    )


def inline(node: Node, notes: Notes) -> CommentCopy:
    return CommentCopy(
        kind="inline",
        id=whole(node.get("fullDatabaseId")),
        author=person(node.get("author")),
        at=moment(node.get("createdAt")),
        body=notes.text(node.get("body"), "a review comment"),
        path=notes.text(node.get("path"), "a path"),
        line=node.get("line") or node.get("originalLine"),
        url=str(node.get("url") or ""),
    )


def inline_of_rest(node: Node, notes: Notes) -> CommentCopy:
    return CommentCopy(
        kind="inline",
        id=whole(node.get("id")),
        author=person(node.get("user")),
        at=moment(node.get("created_at")),
        body=notes.text(node.get("body"), "a review comment"),
        path=notes.text(node.get("path"), "a path"),
        line=node.get("line") or node.get("original_line"),
        url=str(node.get("html_url") or ""),
    )


def label(node: Node, notes: Notes) -> LabelCopy:
    return LabelCopy(
        notes.text(node.get("name"), "a label"),
        str(node.get("color") or ""),
        notes.text(node.get("description"), "a label"),
    )


def commit(node: Node, notes: Notes) -> CommitCopy:
    inner = node.get("commit")
    login = below(inner, "author", "user", "login")
    return CommitCopy(
        sha=str(below(inner, "oid") or ""),
        message=notes.text(below(inner, "message"), "a commit message"),
        author=notes.text(login or below(inner, "author", "name"), "a commit's author"),
        at=moment(below(inner, "committedDate")) or moment(below(inner, "authoredDate")),
    )


def link(node: Node, notes: Notes) -> LinkCopy:
    return LinkCopy(
        repository=str(below(node, "repository", "nameWithOwner") or ""),
        repository_id=below(node, "repository", "databaseId"),
        number=whole(node.get("number")),
        title=notes.text(node.get("title"), "a link's title"),
        state=str(node.get("state") or "").lower(),
        url=str(node.get("url") or ""),
    )


def glance(node: Node) -> Glance:
    return Glance(whole(node.get("fullDatabaseId")), whole(node.get("number")), moment(node.get("updatedAt")))


def repository(node: Node) -> RepositoryCopy:
    return RepositoryCopy(
        id=whole(node.get("id")),
        name=str(node.get("full_name") or ""),
        url=str(node.get("html_url") or ""),
        is_fork=bool(node.get("fork")),
        is_archived=bool(node.get("archived")),
    )


def file(node: Node, notes: Notes) -> FileCopy:
    patch = node.get("patch")
    changes = whole(node.get("additions")) + whole(node.get("deletions"))
    return FileCopy(
        path=notes.text(node.get("filename"), "a path"),
        old_path=notes.text(node.get("previous_filename"), "a path"),
        status=str(node.get("status") or ""),
        additions=whole(node.get("additions")),
        deletions=whole(node.get("deletions")),
        patch=notes.text(patch, "a patch") if isinstance(patch, str) else None,
        note=_note(patch, changes=changes, has_content=node.get("status") in WITH_CONTENT and node.get("sha") != EMPTY),
    )


EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # git's name of the empty file
WITH_CONTENT = ("added", "removed", "modified")


def _note(patch: object, *, changes: int, has_content: bool) -> Any:
    """GitHub leaves the patch out of binary files (no lines counted), renames alone, and diffs that are too large."""
    if isinstance(patch, str):
        return "undecodable" if REPLACEMENT in patch else ""
    if changes:
        return "too_large"
    return "binary" if has_content else "no_change"


def each(entries: object, read: Callable[[Node, Notes], T], notes: Notes) -> tuple[T, ...]:
    """The readable entries of a list that REST gave."""
    if not isinstance(entries, list):
        return ()
    return tuple(read(entry, notes) for entry in entries if isinstance(entry, Mapping))
