"""The HTTP server: threads on loopback, keeping connections open, and a log of every request."""

import json
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.services.github_server import graph, openapi, rest
from tests.services.github_server.connection import Connection, Disconnect, Request
from tests.services.github_server.faults import Fault, Faults
from tests.services.github_server.limits import Limits
from tests.services.github_server.rest import Reply, refused
from tests.services.github_server.world import World

TOKEN = "ghp_only_for_tests"
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
PRIMARY = "API rate limit exceeded for user ID 1."
UNAUTHORIZED = "Bad credentials"


@dataclass
class Entry:
    """One request that came in."""

    kind: str  # rest, graphql
    method: str
    path: str
    asked: str  # the query, or the GraphQL question with its variables
    token: str
    at: datetime
    status: int = 0
    points: int = 0
    fault: str = ""
    was_told_to_wait: bool = False  # sent though told to wait: a fault of the client's
    is_repeated: bool = False  # already answered in full

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}?{self.asked}"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that was killed is no news
            super().handle_error(request, client_address)


class GitHubServer:
    """`with GitHubServer(world) as server: … server.url`. The log and what was refused stay readable afterwards."""

    def __init__(
        self,
        world: World,
        *,
        tokens: tuple[str, ...] = (TOKEN,),
        limits: dict[str, int] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        port: int = 0,
        prefix: str = "",
        heaviest_page: int = 0,
        grace: float = 0,
        latency: float = 0,
        has_rest_search: bool = True,
    ) -> None:
        self.world = world
        self.faults = Faults()
        self.log: list[Entry] = []
        self.wrong: list[str] = []  # whatever broke the contract, ours and the client's
        self.clock = clock
        self.tokens = {token: Limits(clock) for token in tokens}
        self.heaviest_page = heaviest_page  # more of a search at once, and it takes too long: 502
        self.grace = grace  # real seconds: what several workers had on its way before a wait was told is no fault
        self._told_at = 0.0
        self.has_rest_search = has_rest_search
        for kept in self.tokens.values():
            kept.limits.update(limits or {})
        self.checks_answers = False
        self._answered: set[str] = set()
        self._lock = threading.RLock()
        bound = {"answer": staticmethod(self.answer), "clock": staticmethod(clock), "latency": latency}
        self._http = Server(("127.0.0.1", port), type("Bound", (Connection,), bound))
        self._prefix = prefix  # of a GitHub Enterprise server: /api/v3, and GraphQL at /api/graphql
        self.url = f"http://127.0.0.1:{self._http.server_port}{prefix}"

    def __enter__(self) -> "GitHubServer":
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()

    def serve_forever(self) -> None:
        self._http.serve_forever()

    # What tests ask

    def sent(self, kind: str = "") -> list[Entry]:
        return [entry for entry in self.log if not kind or entry.kind == kind]

    def sent_while_told_to_wait(self) -> list[Entry]:
        return [entry for entry in self.log if entry.was_told_to_wait]

    def repeated(self) -> list[Entry]:
        return [entry for entry in self.log if entry.is_repeated]

    def revoke(self, token: str) -> None:
        self.tokens.pop(token, None)

    # One request

    def answer(self, request: Request) -> Reply:
        with self._lock:
            request.path = self._without_prefix(request.path)
            entry = self._entered(request)
            try:
                reply = self._answer(request, entry)
            except Disconnect:
                raise
            except Exception as error:  # ours: a test must hear of it
                self.wrong.append("the server failed: " + "".join(traceback.format_exception(error)))
                reply = Reply(500, None)
            entry.status = reply.status
            if reply.status == 200 and not entry.fault:
                entry.is_repeated = "if-none-match" not in request.headers and entry.name in self._answered
                self._answered.add(entry.name)
            return reply

    def _without_prefix(self, path: str) -> str:
        if path == self._prefix.removesuffix("/v3") + "/graphql":
            return "/graphql"
        return path.removeprefix(self._prefix)

    def _entered(self, request: Request) -> Entry:
        asked = (
            json.dumps(request.body, sort_keys=True)
            if request.is_graphql
            else json.dumps(request.query, sort_keys=True)
        )
        token = request.headers.get("authorization", "").split(" ")[-1]
        kind = "graphql" if request.is_graphql else "rest"
        entry = Entry(kind, request.method, request.path, asked, token, self.clock())
        self.log.append(entry)
        return entry

    def _answer(self, request: Request, entry: Entry) -> Reply:
        limits = self.tokens.get(entry.token)
        if limits is None:
            return refused(401, UNAUTHORIZED)
        if limits.is_held():
            entry.was_told_to_wait = time.monotonic() > self._told_at + self.grace
            return refused(403, SECONDARY)
        reply = self._within(limits, request, entry)
        reply.headers = limits.headers(request.resource) | reply.headers
        return reply

    def _within(self, limits: Limits, request: Request, entry: Entry) -> Reply:
        if limits.allowance(request.resource).remaining == 0:
            entry.was_told_to_wait = True
            return self._used_up(request)
        if request.is_graphql:
            return self._graphql(limits, request, entry)
        limits.take(request.resource, 1)
        fault = self._fault(request, entry)
        if fault and (reply := self._struck(fault, limits, request)):
            return reply
        return self._rest(limits, request, fault)

    def _used_up(self, request: Request) -> Reply:
        if request.is_graphql:
            return Reply(200, {"errors": [{"type": "RATE_LIMITED", "message": PRIMARY}]})
        return refused(403, PRIMARY)

    # Faults

    def _fault(self, request: Request, entry: Entry) -> Fault | None:
        fault = self.faults.next_for(request.sorts())
        entry.fault = fault.kind if fault else ""
        return fault

    def _struck(self, fault: Fault, limits: Limits, request: Request) -> Reply | None:
        """None: the fault shapes the answer, it does not replace it."""
        if fault.kind in ("500", "502", "503"):
            return Reply(int(fault.kind), "<html><body>Unicorn!</body></html>")
        if fault.kind in ("403", "404", "410", "451"):
            return refused(int(fault.kind), "Forbidden" if fault.kind == "403" else "")
        if fault.kind == "reset":
            raise Disconnect
        if fault.kind == "bad_json":
            return Reply(200, '{"data": {"search": [')
        if fault.kind == "revoked":
            self.tokens = {token: kept for token, kept in self.tokens.items() if kept is not limits}
            return refused(401, UNAUTHORIZED)
        return self._limited(fault, limits, request)

    def _limited(self, fault: Fault, limits: Limits, request: Request) -> Reply | None:
        self._told_at = time.monotonic()
        if fault.kind == "primary":
            limits.use_up(request.resource, fault.seconds)
            return self._used_up(request)
        if fault.kind in ("secondary", "429"):
            limits.hold(fault.seconds)
            reply = refused(429 if fault.kind == "429" else 403, SECONDARY)
            reply.headers["Retry-After"] = str(fault.seconds)
            return reply
        if fault.kind == "secondary_untold":
            limits.hold(60)
            return refused(403, SECONDARY)
        return None

    # GraphQL

    def _graphql(self, limits: Limits, request: Request, entry: Entry) -> Reply:
        query, variables = str(request.body.get("query")), request.body.get("variables") or {}
        if wrong := graph.checked(query).wrong:
            self.wrong += wrong
            return Reply(200, {"errors": [{"message": why, "extensions": {"code": "invalid"}} for why in wrong]})
        points, asked = graph.points_of(query, variables)
        entry.points = points
        if asked > graph.MOST_NODES:
            self.wrong.append(f"{asked} nodes asked for at once")
        if not limits.take("graphql", points):
            return Reply(200, {"errors": [{"type": "RATE_LIMITED", "message": PRIMARY}]})
        fault = self._fault(request, entry) or self._too_heavy(query, variables, entry)
        if fault and (reply := self._struck(fault, limits, request)):
            return reply
        return self._asked(limits, query, variables, points, fault)

    def _too_heavy(self, query: str, variables: dict[str, Any], entry: Entry) -> Fault | None:
        if not self.heaviest_page or "query Hits" not in query or variables.get("first", 0) <= self.heaviest_page:
            return None
        entry.fault = "502"
        return Fault("502")

    def _asked(self, limits: Limits, query: str, variables: dict[str, Any], points: int, fault: Fault | None) -> Reply:
        kind = fault.kind if fault else ""
        if kind == "errors":
            error = {"message": "Something went wrong while executing your query. This may be the result of a timeout."}
            return Reply(200, {"data": None, "errors": [error]})
        kept = limits.allowance("graphql")
        limit = {
            "cost": points,
            "limit": kept.limit,
            "remaining": kept.remaining,
            "resetAt": kept.reset_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        tricks = graph.Tricks(is_half=kind == "half", null_at=1 if kind == "null_node" else None)
        answered = graph.answer(self.world, query=query, variables=variables, limit=limit, tricks=tricks, base=self.url)
        self.wrong += answered.wrong
        if kind == "null_node":
            error = {"message": "Something went wrong", "path": ["search", "nodes", 1]}
            answered.body["errors"] = [error]
        return self._cut(Reply(200, answered.body), kind)

    def _cut(self, reply: Reply, kind: str) -> Reply:
        if kind == "cut":
            raise Disconnect(reply)
        return reply

    # REST

    def _rest(self, limits: Limits, request: Request, fault: Fault | None) -> Reply:
        called = openapi.operation(request.method, request.path)
        if called is None:
            self.wrong.append(f"{request.method} {request.path} is not in the description")
            return refused(404)
        if called.template == "/search/issues" and not self.has_rest_search:
            return refused(404)
        if wrong := openapi.wrong_with_call(called, request.query):
            self.wrong += wrong
            return refused(422, wrong[0])
        is_incomplete = fault is not None and fault.kind == "incomplete"
        call = rest.Call(self.world, called, request.path, request.query, self.url, is_incomplete)
        reply = rest.answer(call)
        if called.template == "/rate_limit":
            reply = Reply(200, self._rate_limit(limits))
        if self.checks_answers:
            self.wrong += openapi.wrong_with_answer(called, reply.status, reply.body)
        return self._cut(self._tagged(limits, request, reply), fault.kind if fault else "")

    def _tagged(self, limits: Limits, request: Request, reply: Reply) -> Reply:
        if reply.status != 200 or request.resource == "search":
            return reply
        reply.headers["ETag"] = rest.etag(reply.body)
        if request.headers.get("if-none-match") != reply.headers["ETag"]:
            return reply
        limits.allowance(request.resource).remaining += 1  # costs nothing
        return Reply(304, None, reply.headers)

    def _rate_limit(self, limits: Limits) -> dict[str, Any]:
        def shown(resource: str) -> dict[str, int]:
            kept = limits.allowance(resource)
            used = kept.limit - kept.remaining
            return {
                "limit": kept.limit,
                "remaining": kept.remaining,
                "used": used,
                "reset": int(kept.reset_at.timestamp()),
            }

        return {"resources": {name: shown(name) for name in ("core", "search", "graphql")}, "rate": shown("core")}
