"""REST as far as the collection uses it. Answers are built on GitHub's OpenAPI description."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.services.github_server.nodes import MOST_COMMITS, iso
from tests.services.github_server.openapi import BY_ID, Operation, filled
from tests.services.github_server.searching import AT_MOST, Unsearchable, found
from tests.services.github_server.world import File, GitCommit, Label, Repository, Review, Thing, Turn, World

MOST_FILES = 3_000
WORDS = {404: "Not Found", 410: "This issue was deleted", 451: "Repository access blocked", 301: "Moved Permanently"}


@dataclass
class Reply:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


Answering = Callable[["Call", Repository], Reply]


def refused(status: int, message: str = "") -> Reply:
    return Reply(
        status,
        {
            "message": message or WORDS[status],
            "documentation_url": "https://docs.github.com/rest",
            "status": str(status),
        },
    )


@dataclass(frozen=True)
class Call:
    world: World
    operation: Operation
    path: str
    query: Mapping[str, str]
    base: str
    is_incomplete: bool = False

    @property
    def per_page(self) -> int:
        return int(self.query.get("per_page", 30))

    @property
    def page(self) -> int:
        return int(self.query.get("page", 1))


def answer(call: Call) -> Reply:
    if call.operation.template == "/search/issues":
        return _search(call)
    if call.operation.template == "/rate_limit":
        return Reply(200, None)
    place = _place(call)
    if isinstance(place, Reply):
        return place
    answering = ANSWERS.get(call.operation.template.removeprefix("/repos/{owner}/{repo}"))
    return answering(call, place) if answering else refused(404)


def _place(call: Call) -> Repository | Reply:
    if by_id := BY_ID.match(call.path):
        return call.world.numbered(int(by_id[1])) or refused(404)
    name = f"{call.operation.names['owner']}/{call.operation.names['repo']}"
    if moved := call.world.formerly(name):
        location = f"{call.base}/repositories/{moved.id}{call.path.removeprefix(f'/repos/{name}')}"
        reply = refused(301)
        return Reply(301, reply.body | {"url": location}, {"Location": location})
    return call.world.named(name) or refused(404)


def _search(call: Call) -> Reply:
    try:
        hits = found(call.world, call.query["q"], is_strict=True)
    except Unsearchable as error:
        body = {
            "message": "Validation Failed",
            "errors": [{"message": str(error), "resource": "Search", "field": "q", "code": "invalid"}],
        }
        return Reply(422, body | {"documentation_url": "https://docs.github.com/v3/search/"})
    if call.is_incomplete:
        hits = hits[: len(hits) // 2]
    start = (call.page - 1) * call.per_page
    if start >= AT_MOST:
        return refused(422, "Only the first 1000 search results are available")
    items = [_hit(place, thing, call.base) for place, thing in hits[:AT_MOST][start : start + call.per_page]]
    return Reply(
        200,
        {"total_count": len(hits), "incomplete_results": call.is_incomplete, "items": items, "search_type": "lexical"},
    )


def _repository(call: Call, place: Repository) -> Reply:
    owner, name = place.name.split("/")
    body = filled(
        "full-repository",
        id=place.id,
        name=name,
        full_name=place.name,
        html_url=f"{call.base}/{place.name}",
        url=f"{call.base}/repos/{place.name}",
        owner=filled("simple-user", login=owner),
        default_branch="main",
    )
    return Reply(200, body)


def _thing(call: Call, place: Repository, name: str) -> Thing | Reply:
    kept = place.things.get(int(call.operation.names[name]))
    if kept is None:
        return refused(404)
    return refused(kept.gone) if kept.gone else kept


def _issue(call: Call, place: Repository) -> Reply:
    kept = _thing(call, place, "issue_number")
    return (
        kept
        if isinstance(kept, Reply)
        else Reply(200, filled("issue", **_shared(place, kept, call.base), comments=len(kept.comments)))
    )


def _pull(call: Call, place: Repository) -> Reply:
    kept = _thing(call, place, "pull_number")
    if isinstance(kept, Reply):
        return kept
    if kept.kind != "pull_request":
        return refused(404)
    return Reply(
        200,
        filled("pull-request", **_shared_pull(place, kept, call.base), changed_files=len(kept.files)),
    )


def _listed(call: Call, entries: Any, shown: Any) -> Reply:
    start = (call.page - 1) * call.per_page
    more = start + call.per_page < len(entries)
    query = urlencode({**call.query, "per_page": call.per_page, "page": call.page + 1})
    headers = {"Link": f'<{call.base}{call.path}?{query}>; rel="next"'} if more else {}
    return Reply(200, [shown(entry) for entry in entries[start : start + call.per_page]], headers)


def _pulls(call: Call, place: Repository) -> Reply:
    state = call.query.get("state", "open")
    pulls = [kept for kept in place.things.values() if kept.kind == "pull_request"]
    fitting = [kept for kept in reversed(pulls) if state == "all" or (kept.closed is not None) == (state == "closed")]
    return _listed(
        call,
        fitting,
        lambda kept: filled("pull-request-simple", **_shared_pull(place, kept, call.base)),
    )


def _of(name: str, entries: Callable[[Thing], Sequence[Any]], shown: Callable[[Any], Any]) -> Answering:
    """A list that hangs on one pull request or issue."""

    def listed(call: Call, place: Repository) -> Reply:
        kept = _thing(call, place, name)
        return kept if isinstance(kept, Reply) else _listed(call, entries(kept), shown)

    return listed


def _said(turn: Turn) -> dict[str, Any]:
    return filled("issue-comment", id=turn.id, user=_user(turn.author), body=turn.body, created_at=iso(turn.at))


def _review(kept: Review) -> dict[str, Any]:
    return filled("pull-request-review", id=kept.id, user=_user(kept.author), body=kept.body, state=kept.state)


def _commit(kept: GitCommit) -> dict[str, Any]:
    account = _user(kept.login) or {}  # the description knows an empty object beside an account
    shown = filled("commit", sha=kept.sha, author=account, committer=account)
    shown["commit"]["message"] = kept.message
    return shown


def _label(kept: Label) -> dict[str, Any]:
    return filled("label", name=kept.name, color=kept.color, description=kept.description)


def _user(login: str | None) -> dict[str, Any] | None:
    return filled("simple-user", login=login) if login else None


ANSWERS: dict[str, Answering] = {
    "": _repository,
    "/issues/{issue_number}": _issue,
    "/pulls/{pull_number}": _pull,
    "/pulls": _pulls,
    "/pulls/{pull_number}/files": _of("pull_number", lambda kept: kept.files[:MOST_FILES], lambda file: _file(file)),
    "/pulls/{pull_number}/comments": _of("pull_number", lambda kept: kept.inline, lambda turn: _turn(turn)),
    "/pulls/{pull_number}/reviews": _of("pull_number", lambda kept: kept.reviews, _review),
    "/pulls/{pull_number}/commits": _of("pull_number", lambda kept: kept.commits[:MOST_COMMITS], _commit),
    "/issues/{issue_number}/comments": _of("issue_number", lambda kept: kept.comments, _said),
    "/issues/{issue_number}/labels": _of("issue_number", lambda kept: kept.labels, _label),
}


def _shared(place: Repository, kept: Thing, base: str) -> dict[str, Any]:
    return {
        "id": kept.id,
        "number": kept.number,
        "title": kept.title,
        "body": kept.body,
        "state": "closed" if kept.closed else "open",
        "user": _user(kept.author),
        "created_at": iso(kept.created),
        "updated_at": iso(kept.updated),
        "closed_at": iso(kept.closed),
        "html_url": f"{base}/{place.name}/issues/{kept.number}",
        "url": f"{base}/repos/{place.name}/issues/{kept.number}",
    }


def _shared_pull(place: Repository, kept: Thing, base: str) -> dict[str, Any]:
    here = f"{base}/repos/{place.name}"
    addresses = {"url": f"{here}/pulls/{kept.number}", "issue_url": f"{here}/issues/{kept.number}"}
    return _shared(place, kept, base) | addresses | {"merged_at": iso(kept.merged)}


def _hit(place: Repository, kept: Thing, base: str) -> dict[str, Any]:
    shown = filled("issue-search-result-item", **_shared(place, kept, base), score=1.0, comments=len(kept.comments))
    if shown["body"] is None:  # real hits hold null, but the description does not allow it
        del shown["body"]
    return shown


def _file(file: File) -> dict[str, Any]:
    shown = filled(
        "diff-entry",
        sha=hashlib.sha1(file.path.encode()).hexdigest(),
        filename=file.path,
        status=file.status,
        additions=file.additions,
        deletions=file.deletions,
        changes=file.additions + file.deletions,
    )
    patch = {} if file.patch is None else {"patch": file.patch}
    return shown | patch | ({"previous_filename": file.old_path} if file.old_path else {})


def _turn(turn: Turn) -> dict[str, Any]:
    shown = filled(
        "pull-request-review-comment",
        id=turn.id,
        user=_user(turn.author),
        body=turn.body,
        path=turn.path,
        line=turn.line,
        original_line=turn.line,
        created_at=iso(turn.at),
        updated_at=iso(turn.at),
        html_url=f"https://example.org/comment/{turn.id}",
    )
    if turn.has_no_user_key:
        del shown["user"]
    return shown


def etag(body: Any) -> str:
    return f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"'
