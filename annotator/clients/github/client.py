"""GitHub as the collection needs it: searched in windows, read into copies, asked no more often than it allows."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

from annotator.clients.github import parse, queries
from annotator.clients.github.budget import Clock, utc_now
from annotator.clients.github.copies import (
    CommentCopy,
    Copy,
    FilesCopy,
    Glance,
    Hole,
    Missing,
    RepositoryCopy,
)
from annotator.clients.github.errors import Broken, Gone
from annotator.clients.github.graph import Graph, Question, Reply
from annotator.clients.github.pages import PageSize
from annotator.clients.github.rest_of import completed
from annotator.clients.github.search import NAME, Query
from annotator.clients.github.windows import Count, Window
from annotator.clients.github.wire import Answer, Ask, Key, Used, Wire

FILES_AT_MOST = 3_000  # GitHub lists no more of a pull request
PER_PAGE = 100
ASKED_AGAIN = 3  # a search that ran out of time
GONE = (403, 404, 410, 451)

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some hits. `after` goes on behind them, empty at the end; `total` as GitHub counts at this moment."""

    hits: tuple[T, ...]
    total: int
    after: str
    holes: tuple[Hole, ...] = ()


class GitHub:
    """Every call may raise the five errors of `errors`; none sleeps for longer than a few seconds."""

    def __init__(
        self,
        base_url: str,
        keys: Sequence[Key],
        *,
        pages: PageSize | None = None,
        clock: Clock = utc_now,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.pages = pages or PageSize()
        self._wire = Wire(base_url, keys, clock=clock, pause=pause)
        self._graph = Graph(self._wire, self.pages)
        self._names: dict[str, str] = {}  # names as asked for, in lower case: today's

    def __repr__(self) -> str:
        return f"GitHub({self._wire.base_url})"

    @property
    def used(self) -> Used:
        return replace(self._wire.used)

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of the keys that GitHub no longer takes."""
        return self._wire.refused

    def close(self) -> None:
        self._wire.close()

    # Repositories

    def repository(self, name: str) -> RepositoryCopy:
        """By owner/name, through renames and transfers."""
        found = self._repository(f"/repos/{_name(name)}", name)
        self._names[name.lower()] = found.name
        return found

    def _repository(self, path: str, what: str) -> RepositoryCopy:
        answer = self._found(self._wire.follow(Ask("GET", path, "core")), what)
        found = parse.repository(answer.data if isinstance(answer.data, Mapping) else {})
        if not found.id or not found.name:
            raise Broken(f"{what}: GitHub sent no repository")
        return found

    # Search

    def count(self, query: Query, window: Window) -> Count:
        """How many hits a window holds: by REST, which alone says when a search ran out of time.

        Where REST's search is closed (an Enterprise server may do that), GraphQL counts, and can't say so.
        """
        most = 0
        for _time in range(ASKED_AGAIN):
            answer = self._counted(query, window)
            if answer.status == 404:
                return self._counted_by_graphql(query, window)
            total = parse.whole(answer.data.get("total_count"))
            if not answer.data.get("incomplete_results"):
                return Count(total)
            most = max(most, total)
        return Count(most, is_complete=False)

    def _counted(self, query: Query, window: Window) -> Answer:
        answer = self._search(self._today(query), window)
        if answer.status == 422 and query.repository.lower() not in self._names:
            self.repository(query.repository)  # a renamed repository can't be searched by its old name
            answer = self._search(self._today(query), window)
        if answer.status not in (200, 404) or not isinstance(answer.data, Mapping):
            raise Broken(f"GitHub refuses the search ({answer.status}): {answer.message or 'no reason given'}")
        return answer

    def _counted_by_graphql(self, query: Query, window: Window) -> Count:
        asked: Question = queries.COUNT, {"query": self._today(query).within(window)}
        reply = self._graph.ask(lambda _size: asked, root="search", name="Count")
        return Count(parse.whole(parse.below(reply.root, "issueCount")))

    def _search(self, query: Query, window: Window) -> Answer:
        parameters: dict[str, str | int] = {"q": query.within(window), "per_page": 1}
        return self._wire.send(Ask("GET", "/search/issues", "search", parameters=parameters))

    def hits(self, query: Query, window: Window, *, after: str = "") -> Page[Copy]:
        """One page of hits with everything but files, in no promised order."""
        return self._page(queries.HITS[query.kind], query, window, after=after, read=parse.thread)

    def glances(self, query: Query, window: Window, *, after: str = "") -> Page[Glance]:
        """One page of hits, only to see what is new or newer: a hundred at once."""
        return self._page(queries.GLANCES, query, window, after=after, read=parse.glance, size=PER_PAGE)

    def _page(
        self,
        text: str,
        query: Query,
        window: Window,
        *,
        after: str,
        read: Callable[[parse.Node], T],
        size: int = 0,
    ) -> Page[T]:
        sought = {"query": self._today(query).within(window) + " sort:created-desc", "after": after or None}

        def question(page_size: int) -> Question:
            return text, sought | {"first": size or page_size}

        return _read_page(self._graph.ask(question, root="search", name=text[:20]), read)

    def all_hits(
        self, query: Query, window: Window, *, after: str = "", known: Collection[int] = ()
    ) -> Iterator[Page[Copy]]:
        """Page after page of a settled window, each hit once; `known` ids don't come again.

        A list may end too early: where fewer came than the window counts, `unheld` names the others.
        """
        seen = set(known)
        while True:
            page = self.hits(query, window, after=after)
            fresh = tuple(hit for hit in page.hits if hit.id not in seen)
            seen.update(hit.id for hit in fresh)
            yield replace(page, hits=fresh)
            if not page.after or page.after == after:
                return
            after = page.after

    def unheld(self, query: Query, window: Window, known: Collection[int]) -> tuple[Glance, ...]:
        """What a window holds beside the known ids, seen by a light search: to be fetched by number, or named."""
        found: dict[int, Glance] = {}
        after = ""
        while True:
            page = self.glances(query, window, after=after)
            found |= {hit.id: hit for hit in page.hits if hit.id not in known}
            if not page.after or page.after == after:
                return tuple(found.values())
            after = page.after

    def today(self, name: str) -> str:
        """What a repository is called now, as far as GitHub was asked."""
        return self._names.get(name.lower(), name)

    def _today(self, query: Query) -> Query:
        return replace(query, repository=self.today(query.repository))

    # One thing

    def fetch(self, repository: str, number: int) -> Copy:
        """One pull request or issue, whole, without files. Raises Gone."""
        found = self.fetch_many(repository, [number])[number]
        if isinstance(found, Gone | Broken):
            raise found
        return self.complete(found)

    def fetch_many(self, repository: str, numbers: Sequence[int]) -> dict[int, Copy | Gone | Broken]:
        """Several of one repository, a page of them in each question; why one is gone is asked of REST."""
        found: dict[int, Copy | Gone | Broken] = {}
        owner, name = _name(repository).split("/")
        waiting = list(dict.fromkeys(numbers))
        while waiting:
            asked: list[int] = []

            def question(page_size: int) -> Question:
                asked[:] = waiting[:page_size]  # noqa: B023 - asked and waiting are this turn's
                return queries.by_number(asked), {"owner": owner, "name": name}  # noqa: B023

            reply = self._graph.ask(question, root="repository", name="ByNumber")
            if reply.root is None and (reason := self._whole_is_gone(repository)):
                return found | {number: Gone(reason, f"{repository}#{number}") for number in waiting}
            found |= {number: self._read_one(reply, repository, number) for number in asked}
            waiting = waiting[len(asked) :]
        return found

    def _whole_is_gone(self, repository: str) -> int:
        """Why the repository can't be had; 0 where it can."""
        try:
            self.repository(repository)
        except Gone as gone:
            return gone.reason
        return 0

    def _read_one(self, reply: Reply, repository: str, number: int) -> Copy | Gone | Broken:
        node = parse.below(reply.root, f"n{number}")
        if isinstance(node, Mapping):
            return parse.thread(node)
        fault = reply.fault_at("repository", f"n{number}")
        if fault and fault.may_pass:
            return Broken(f"{repository}#{number}: GitHub says {fault.message}")
        return Gone(self.why_gone(repository, number), f"{repository}#{number}")

    def why_gone(self, repository: str, number: int) -> int:
        """404, 410 or 451, as REST tells; 404 where it knows no better, as of what was moved elsewhere."""
        status = self._wire.follow(Ask("GET", f"/repos/{_name(repository)}/issues/{number}", "core")).status
        return status if status in GONE else 404

    def complete(self, copy: Copy) -> Copy:
        """With what its page left out: longer lists by GraphQL, review comments by REST. `missing` says what stays."""
        return completed(copy, rest=self._rest_of, inline=self.review_comments)

    def _rest_of(self, copy: Copy, gap: Missing) -> Iterator[parse.Node]:
        """The connection's further pages."""
        owner, name = copy.repository.split("/")
        typename = "PullRequest" if copy.kind == "pull_request" else "Issue"
        text, after = queries.rest_of(gap.what, typename), gap.after
        while after:
            variables = {"owner": owner, "name": name, "number": copy.number, "after": after}
            reply = self._graph.ask(lambda _size, asked=variables: (text, asked), root="repository", name=gap.what)  # type: ignore[misc]
            connection = parse.below(reply.root, "thing", gap.what)
            if not isinstance(connection, Mapping):
                return
            yield connection
            more = parse.below(connection, "pageInfo", "hasNextPage")
            after = str(parse.below(connection, "pageInfo", "endCursor") or "") if more else ""

    # What only REST has

    def review_comments(self, repository: str, number: int) -> tuple[CommentCopy, ...]:
        notes = parse.Notes()
        path = f"/repos/{_name(repository)}/pulls/{number}/comments"
        listed = [entry for page in self._listed(path) for entry in page.data or []]
        return parse.each(listed, parse.inline_of_rest, notes)

    def files(self, repository: str, number: int, *, expected: int | None = None, etag: str = "") -> FilesCopy:
        """Changed files with their patches; `expected` is the pull request's own count. Raises Gone.

        With the ETag of an earlier answer GitHub says at no cost that nothing changed.
        """
        if expected == 0:
            return FilesCopy(())
        path = f"/repos/{_name(repository)}/pulls/{number}/files"
        pages = list(self._listed(path, etag=etag))
        if pages[0].status == 304:
            return FilesCopy((), etag=etag, is_unchanged=True)
        notes = parse.Notes()
        files = tuple(file for page in pages for file in parse.each(page.data, parse.file, notes))
        missing = (Missing("files", len(files), expected),) if expected and len(files) < expected else ()
        return FilesCopy(files, _etag(pages), missing=missing, notes=notes.said())

    def _listed(self, path: str, *, etag: str = "") -> Iterator[Answer]:
        """The pages of a list, along GitHub's Link header."""
        ask = Ask(
            "GET", path, "core", parameters={"per_page": PER_PAGE}, headers={"If-None-Match": etag} if etag else {}
        )
        for _page in range(1 + FILES_AT_MOST // PER_PAGE):
            answer = self._found(self._wire.follow(ask), path)
            yield answer
            following = next_page(answer.headers.get("link", ""))
            if following is None:
                return
            ask = replace(ask, parameters={**ask.parameters, **following}, headers={})

    def _found(self, answer: Answer, what: str) -> Answer:
        if answer.status in GONE:
            raise Gone(answer.status, what)
        if answer.status not in (200, 304):
            raise Broken(f"{what}: GitHub answers {answer.status} {answer.message}".rstrip())
        return answer


def _name(repository: str) -> str:
    if not NAME.fullmatch(repository):
        raise Broken(f"{repository!r} is not owner/name")
    return repository


def _etag(pages: Sequence[Answer]) -> str:
    """Of a list on one page; a longer one's first page would not tell of changes behind it."""
    return pages[0].headers.get("etag", "") if len(pages) == 1 else ""


def _read_page(reply: Reply, read: Callable[[parse.Node], T]) -> Page[T]:
    nodes = parse.below(reply.root, "nodes")
    nodes = nodes if isinstance(nodes, list) else []
    info = parse.below(reply.root, "pageInfo") or {}
    return Page(
        hits=tuple(read(node) for node in nodes if node),
        total=parse.whole(parse.below(reply.root, "issueCount")),
        after=str(info.get("endCursor") or "") if info.get("hasNextPage") else "",
        holes=tuple(_hole(reply, place) for place, node in enumerate(nodes) if not node),
    )


def _hole(reply: Reply, place: int) -> Hole:
    fault = reply.fault_at("search", "nodes", place)
    return Hole(place, fault.message if fault else "no reason given")


def next_page(link: str) -> dict[str, str] | None:
    """The query of the Link header's rel="next"."""
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            return dict(parse_qsl(urlsplit(address.strip(" <>")).query))
    return None
