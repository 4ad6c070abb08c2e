"""GraphQL: one question, its points, and the errors that come in a 200."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from annotator.clients.github.errors import Broken, GitHubError, NotAllowed, Unreachable
from annotator.clients.github.pages import PageSize
from annotator.clients.github.wire import PAUSES, RETRY_LATER, Answer, Ask, Wire

TRIES = 1 + len(PAUSES)
TOO_MUCH = {"MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED", "SERVICE_UNAVAILABLE", "INTERNAL", "TIMEOUT"}

Question = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Fault:
    """One entry of an answer's errors: where, of which type, in which words."""

    path: tuple[str | int, ...]
    type: str
    message: str
    is_syntax: bool = False

    @property
    def may_pass(self) -> bool:
        return not self.is_syntax and (not self.type or self.type in TOO_MUCH)


@dataclass(frozen=True)
class Reply:
    """What stands under the asked root (None: nothing), and what went wrong beside it."""

    root: Any
    faults: tuple[Fault, ...]

    def fault_at(self, *path: str | int) -> Fault | None:
        return next((fault for fault in self.faults if fault.path[: len(path)] == path), None)


class Graph:
    def __init__(self, wire: Wire, pages: PageSize) -> None:
        self._wire = wire
        self._pages = pages
        self._costs: dict[str, int] = {}

    def ask(self, question: Callable[[int], Question], *, root: str, name: str) -> Reply:
        """The question is made anew for each try, as large as pages now may be."""
        failure: GitHubError = Broken("GitHub was not asked")
        for attempt in range(TRIES):
            if attempt:
                self._wire.pause(PAUSES[attempt - 1])
            result = self._once(question(self._pages.size), root=root, name=name, is_last=attempt == TRIES - 1)
            if isinstance(result, Reply):
                self._pages.worked()
                return result
            failure = result
            if isinstance(failure, Unreachable) and failure.is_overload:
                self._pages.failed()
        raise failure

    def _once(self, question: Question, *, root: str, name: str, is_last: bool) -> Reply | GitHubError:
        query, variables = question
        ask = Ask(
            "POST", "/graphql", "graphql", self._costs.get(name, 1), body={"query": query, "variables": variables}
        )
        try:
            answer = self._wire.send(ask, tries=1)
        except (Unreachable, Broken) as error:
            return error
        data = _data(answer)
        self._pay(name, data)
        reply = Reply(data.get(root), _faults(answer.data))
        return self._judged(reply, is_last=is_last)

    def _judged(self, reply: Reply, *, is_last: bool) -> Reply | GitHubError:
        """A half answer that may pass is asked again; the last time it is taken as it is."""
        passing = [fault for fault in reply.faults if fault.may_pass]
        if passing and (reply.root is None or not is_last):
            why = f"{self._wire.host} answered with an error: {passing[0].message}"
            is_overload = reply.root is None or any(fault.type in TOO_MUCH for fault in passing)
            return Unreachable(self._wire.clock() + RETRY_LATER, why, is_overload=is_overload)
        if reply.root is None and any(fault.type != "NOT_FOUND" for fault in reply.faults):
            raise Broken(f"GitHub refuses the question: {reply.faults[0].message}")
        return reply

    def _pay(self, name: str, data: Mapping[str, Any]) -> None:
        limit = data.get("rateLimit")
        cost = limit.get("cost") if isinstance(limit, Mapping) else None
        paid = cost if isinstance(cost, int) else 1
        self._wire.used.points += paid
        self._costs[name] = max(1, paid)


def _data(answer: Answer) -> Mapping[str, Any]:
    if answer.status in (403, 404):
        raise NotAllowed(
            f"GitHub closes its GraphQL to this token ({answer.status}): {answer.message or 'no reason given'}"
        )
    if answer.status != 200 or not isinstance(answer.data, Mapping):
        raise Broken(f"GitHub refuses the question ({answer.status}): {answer.message or 'no reason given'}")
    data = answer.data.get("data")
    return data if isinstance(data, Mapping) else {}


def _faults(data: Any) -> tuple[Fault, ...]:
    errors = data.get("errors") if isinstance(data, Mapping) else None
    return tuple(_fault(error) for error in errors or [] if isinstance(error, Mapping))


def _fault(error: Mapping[str, Any]) -> Fault:
    path, extensions = error.get("path"), error.get("extensions")
    return Fault(
        path=tuple(path) if isinstance(path, list) else (),
        type=str(error.get("type") or ""),
        message=str(error.get("message") or "no reason given"),
        is_syntax=isinstance(extensions, Mapping) and "code" in extensions,
    )
