"""REST as far as the collection uses it. Answers are built on GitHub's OpenAPI description."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.services.github_server.nodes import iso
from tests.services.github_server.openapi import BY_ID, Operation, filled
from tests.services.github_server.searching import AT_MOST, Unsearchable, found
from tests.services.github_server.world import File, Repository, Thing, Turn, World

MOST_FILES = 3_000
WORDS = {404: "Not Found", 410: "This issue was deleted", 451: "Repository access blocked", 301: "Moved Permanently"}


@dataclass
class Reply:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


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
        filled(
            "pull-request", **_shared(place, kept, call.base), merged_at=iso(kept.merged), changed_files=len(kept.files)
        ),
    )


def _files(call: Call, place: Repository) -> Reply:
    kept = _thing(call, place, "pull_number")
    if isinstance(kept, Reply):
        return kept
    return _listed(call, kept.files[:MOST_FILES], _file)


def _review_comments(call: Call, place: Repository) -> Reply:
    kept = _thing(call, place, "pull_number")
    if isinstance(kept, Reply):
        return kept
    return _listed(call, kept.inline, _turn)


def _listed(call: Call, entries: Any, shown: Any) -> Reply:
    start = (call.page - 1) * call.per_page
    more = start + call.per_page < len(entries)
    query = f"per_page={call.per_page}&page={call.page + 1}"
    headers = {"Link": f'<{call.base}{call.path}?{query}>; rel="next"'} if more else {}
    return Reply(200, [shown(entry) for entry in entries[start : start + call.per_page]], headers)


ANSWERS: dict[str, Any] = {
    "": _repository,
    "/issues/{issue_number}": _issue,
    "/pulls/{pull_number}": _pull,
    "/pulls/{pull_number}/files": _files,
    "/pulls/{pull_number}/comments": _review_comments,
}


def _shared(place: Repository, kept: Thing, base: str) -> dict[str, Any]:
    return {
        "id": kept.id,
        "number": kept.number,
        "title": kept.title,
        "body": kept.body,
        "state": "closed" if kept.closed else "open",
        "user": filled("simple-user", login=kept.author) if kept.author else None,
        "created_at": iso(kept.created),
        "updated_at": iso(kept.updated),
        "closed_at": iso(kept.closed),
        "html_url": f"{base}/{place.name}/issues/{kept.number}",
    }


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
        user=filled("simple-user", login=turn.author) if turn.author else None,
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
