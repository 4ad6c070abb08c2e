"""The world as GraphQL's objects: dictionaries, with a function where a field takes arguments."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from graphql import GraphQLError

from tests.services.github_server.world import GitCommit, Label, Repository, Review, Thing, Turn

T = TypeVar("T")
Node = dict[str, Any]
MOST_COMMITS = 250  # of a pull request, whatever there are


def not_found(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": "NOT_FOUND"})


@dataclass(frozen=True)
class Slice:
    entries: Sequence[Any]
    end: int


def sliced(entries: Sequence[Any], first: int | None, after: str | None) -> Slice:
    if first is None:
        raise GraphQLError(
            "You must provide a `first` or `last` value", extensions={"type": "MISSING_PAGINATION_BOUNDARIES"}
        )
    if not 0 <= first <= 100:
        raise GraphQLError(
            f"Requesting {first} records exceeds the `first` limit of 100 records.",
            extensions={"type": "EXCESSIVE_PAGINATION"},
        )
    start = int(base64.b64decode(after).decode().removeprefix("cursor:")) if after else 0
    return Slice(entries[start : start + first], min(start + first, len(entries)))


def page_info(end: int, *, has_next: bool) -> Node:
    cursor = base64.b64encode(f"cursor:{end}".encode()).decode()
    return {"hasNextPage": has_next, "hasPreviousPage": False, "endCursor": cursor, "startCursor": None}


def connection(entries: Sequence[T], node: Callable[[T], Any], *, at_most: int | None = None) -> Callable[..., Node]:
    def listed(info: Any, first: int | None = None, after: str | None = None, **_asked: Any) -> Node:
        page = sliced(entries[:at_most], first, after)
        return {
            "totalCount": len(entries),
            "pageInfo": page_info(page.end, has_next=page.end < len(entries[:at_most])),
            "nodes": [node(entry) for entry in page.entries],
        }

    return listed


def iso(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def actor(login: str | None) -> Node | None:
    if login is None:
        return None
    is_bot = login.endswith("[bot]")
    return {"__typename": "Bot" if is_bot else "User", "login": login.removesuffix("[bot]")}


def repository(place: Repository, base: str) -> Node:
    return {
        "__typename": "Repository",
        "id": f"R_{place.id}",
        "databaseId": place.id,
        "nameWithOwner": place.name,
        "url": f"{base}/{place.name}",
    }


def repository_with_things(place: Repository, base: str) -> Node:
    def one(*kinds: str) -> Callable[..., Node]:
        def look_up(info: Any, number: int) -> Node:
            kept = place.things.get(number)
            if kept is None or kept.gone or kept.kind not in kinds:
                raise not_found(f"Could not resolve to an issue or pull request with the number of {number}.")
            return thing(place, kept, base)

        return look_up

    both = one("pull_request", "issue")
    return repository(place, base) | {
        "issueOrPullRequest": both,
        "pullRequest": one("pull_request"),
        "issue": one("issue"),
    }


def thing(place: Repository, kept: Thing, base: str) -> Node:
    shared = {
        "id": f"N_{kept.id}",
        "fullDatabaseId": str(kept.id),
        "number": kept.number,
        "title": _fail if kept.is_unreadable else kept.title,
        "body": kept.body or "",
        "author": actor(kept.author),
        "createdAt": iso(kept.created),
        "updatedAt": iso(kept.updated),
        "closedAt": iso(kept.closed),
        "repository": repository(place, base),
        "labels": connection(kept.labels, label),
        "comments": connection(kept.comments, comment),
    }
    return shared | (_pull(place, kept, base) if kept.kind == "pull_request" else _issue(place, kept, base))


def _fail(info: Any) -> str:
    raise GraphQLError("Something went wrong")


def _pull(place: Repository, kept: Thing, base: str) -> Node:
    closes = [place.things[number] for number in kept.closes if number in place.things]
    return {
        "__typename": "PullRequest",
        "url": f"{base}/{place.name}/pull/{kept.number}",
        "state": kept.state,
        "mergedAt": iso(kept.merged),
        "mergedBy": actor("lee") if kept.merged else None,
        "baseRefName": "main",
        "baseRefOid": "b" * 40,
        "headRefName": f"change-{kept.number}",
        "headRefOid": f"{kept.number:040x}",
        "headRepository": {"nameWithOwner": kept.head_repository} if kept.head_repository else None,
        "mergeCommit": {"oid": f"{kept.number:039x}e"} if kept.merged else None,
        "additions": sum(file.additions for file in kept.files),
        "deletions": sum(file.deletions for file in kept.files),
        "changedFiles": len(kept.files),
        "totalCommentsCount": len(kept.comments) + len(kept.inline),
        "commits": connection(kept.commits, commit, at_most=MOST_COMMITS),
        "reviews": connection(kept.reviews, review),
        "closingIssuesReferences": connection(closes, lambda other: thing(place, other, base) | {"state": "CLOSED"}),
    }


def _issue(place: Repository, kept: Thing, base: str) -> Node:
    closers = [other for other in place.things.values() if kept.number in other.closes]
    return {
        "__typename": "Issue",
        "url": f"{base}/{place.name}/issues/{kept.number}",
        "state": "CLOSED" if kept.closed else "OPEN",
        "stateReason": "COMPLETED" if kept.closed else None,
        "closedByPullRequestsReferences": connection(closers, lambda other: thing(place, other, base)),
    }


def label(kept: Label) -> Node:
    return {"name": kept.name, "color": kept.color, "description": kept.description}


def comment(turn: Turn) -> Node:
    return {
        "fullDatabaseId": str(turn.id),
        "author": actor(turn.author),
        "createdAt": iso(turn.at),
        "body": turn.body,
        "path": turn.path,
        "line": turn.line,
        "originalLine": turn.line,
        "url": f"https://example.org/comment/{turn.id}",
    }


def review(kept: Review) -> Node:
    return {
        "fullDatabaseId": str(kept.id),
        "author": actor(kept.author),
        "createdAt": iso(kept.at),
        "submittedAt": iso(kept.at),
        "body": kept.body,
        "state": kept.state,
        "url": f"https://example.org/review/{kept.id}",
        "comments": connection(kept.inline, comment),
    }


def commit(kept: GitCommit) -> Node:
    user = {"login": kept.login} if kept.login else None
    return {
        "commit": {
            "oid": kept.sha,
            "message": kept.message,
            "authoredDate": iso(kept.at),
            "committedDate": iso(kept.at),
            "author": {"name": kept.name, "user": user},
        }
    }
