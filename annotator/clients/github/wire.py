"""One request at a time to GitHub: within the budget, by the next usable token, told apart by how it ended.

Nothing here sleeps for longer than a few seconds: where GitHub says to wait, Limited says until when.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import requests
from github import Auth, Github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester, RequestsResponse
from urllib3.exceptions import NewConnectionError

from annotator.clients.github import limits
from annotator.clients.github.budget import Budget, Clock, Reading, Resource, utc_now
from annotator.clients.github.errors import Broken, Limited, NotAllowed, Unreachable

logger = logging.getLogger(__name__)

TIMEOUT = 20  # GitHub gives up on its side after 10 s
PAUSES = (0.5, 1.5)  # between three tries
RETRY_LATER = timedelta(seconds=30)
REDIRECTS = (301, 302, 307, 308)
TOKEN = re.compile(r"[!-~]{1,500}")
USER_AGENT = "concord-annotator"


class _Moved(Exception):
    """Raised out of PyGithub, which would follow a redirect itself and lose the query on the way."""

    def __init__(self, response: RequestsResponse) -> None:
        super().__init__("moved")
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}


def _checked(response: RequestsResponse) -> RequestsResponse:
    response.response.encoding = "utf-8"  # JSON is; requests would guess
    if response.status in REDIRECTS and "location" in response.headers:
        raise _Moved(response)
    return response


class _Plain(HTTPRequestsConnectionClass):
    def getresponse(self) -> RequestsResponse:
        return _checked(super().getresponse())


class _Secure(HTTPSRequestsConnectionClass):
    def getresponse(self) -> RequestsResponse:
        return _checked(super().getresponse())


Requester.injectConnectionClasses(_Plain, _Secure)  # the one place PyGithub offers, for all of the process
setattr(Requester, "_Requester__persist", True)  # noqa: B010 - injecting turns it off: a new connection each request


@dataclass(frozen=True)
class Key:
    """A token, its budget, and what to call it where it must be named. The token is in no repr."""

    token: str = field(repr=False)
    budget: Budget = field(repr=False)
    name: str = ""

    def __post_init__(self) -> None:
        if not TOKEN.fullmatch(self.token):  # else it would stand in a library's error about headers
            raise NotAllowed("a GitHub token is one word of printable letters; store it again", keys=(self.name,))


def digest(token: str) -> str:
    """How a token is named where it can't be shown."""
    return hashlib.sha256(token.encode()).hexdigest()


@dataclass
class Used:
    """What was really sent, failed tries too."""

    rest: int = 0
    graphql: int = 0
    points: int = 0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    data: Any

    @property
    def message(self) -> str:
        """GitHub's words, with the first detail where it gives some."""
        if not isinstance(self.data, Mapping):
            return ""
        errors = self.data.get("errors")
        detail = (
            errors[0].get("message") if isinstance(errors, list) and errors and isinstance(errors[0], Mapping) else ""
        )
        return ": ".join(str(part) for part in (self.data.get("message"), detail) if part)


@dataclass(frozen=True)
class Ask:
    verb: Literal["GET", "POST"]
    path: str
    resource: Resource
    cost: int = 1
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class _Failure:
    """Why a try gave nothing to use. Kept as words: the library's exceptions hold the request and its token."""

    why: str
    is_nonsense: bool = False
    is_overload: bool = False


class Wire:
    def __init__(
        self,
        base_url: str,
        keys: Sequence[Key],
        *,
        clock: Clock = utc_now,
        pause: Callable[[float], None] = time.sleep,
        timeout: int = TIMEOUT,
    ) -> None:
        self._timeout = timeout
        self.base_url = base_url.rstrip("/")
        self.host = urlsplit(self.base_url).hostname or ""
        if urlsplit(self.base_url).scheme not in ("http", "https") or not self.host:
            raise Broken(f"{base_url!r} is not the address of a GitHub API")
        self.clock = clock
        self.pause = pause
        self.used = Used()
        self._requesters = [(key, self._requester(key)) for key in keys]
        self._refused: list[str] = []

    def __repr__(self) -> str:
        return f"Wire({self.base_url}, {len(self._requesters)} tokens)"

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of the keys that GitHub no longer takes."""
        return tuple(self._refused)

    def _requester(self, key: Key) -> Requester:
        return Github(
            auth=Auth.Token(key.token),
            base_url=self.base_url,
            timeout=self._timeout,
            user_agent=USER_AGENT,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
        ).requester

    def close(self) -> None:
        for _key, requester in self._requesters:
            requester.close()

    def send(self, ask: Ask, *, tries: int = 1 + len(PAUSES)) -> Answer:
        """The answer, whatever its status below 500. Raises Limited, NotAllowed, Unreachable, Broken."""
        failure = _Failure("")
        for attempt in range(tries):
            if attempt:
                self.pause(PAUSES[min(attempt, len(PAUSES)) - 1])
            result = self._once(ask)
            if isinstance(result, Answer):
                return result
            failure = result
        if failure.is_nonsense:
            raise Broken(failure.why)
        raise Unreachable(self.clock() + RETRY_LATER, failure.why, is_overload=failure.is_overload)

    def follow(self, ask: Ask, *, hops: int = 3) -> Answer:
        """As send, and on to where a thing has moved: on this host alone, with the query kept."""
        answer = self.send(ask)
        for _hop in range(hops):
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or not location:
                break
            ask = self._moved(ask, location)
            answer = self.send(ask)
        return answer

    def _moved(self, ask: Ask, location: str) -> Ask:
        here, there = urlsplit(self.base_url), urlsplit(location)
        if there.netloc and (there.scheme, there.netloc) != (here.scheme, here.netloc):
            raise Broken(f"GitHub at {self.host} sends us to another host, where the token must not go")
        path = there.path.removeprefix(here.path)
        return Ask(
            ask.verb, path, ask.resource, ask.cost, {**ask.parameters, **dict(parse_qsl(there.query))}, ask.headers
        )

    def _once(self, ask: Ask) -> Answer | _Failure:
        """One try by each token that may: a limit or a refusal moves on to the next."""
        limited: list[Key] = []
        while True:
            key, requester = self._usable(ask)
            if key in limited:  # told to wait for no time at all
                key.budget.learn(Reading(ask.resource, ask.cost))
                raise Limited(self.clock() + timedelta(seconds=1), ask.resource)
            result = self._exchange(requester, ask)
            reading = self._reading(ask, result)
            key.budget.learn(reading)
            if isinstance(result, Answer) and result.status == 401:
                self._drop(key)
            elif reading.is_secondary or reading.closed_until:
                limited.append(key)
            else:
                return self._judged(result)

    def _usable(self, ask: Ask) -> tuple[Key, Requester]:
        waits = []
        for key, requester in self._requesters:
            wait = key.budget.reserve(ask.resource, ask.cost)
            if wait is None:
                return key, requester
            waits.append(wait)
        if waits:
            raise Limited(min(waits), ask.resource)
        if self._refused:
            raise NotAllowed(
                f"GitHub at {self.host} refused the token: it is wrong, expired or revoked. Store a new one.",
                keys=tuple(self._refused),
            )
        raise NotAllowed(f"there is no token for GitHub at {self.host}: store one first")

    def _drop(self, key: Key) -> None:
        self._requesters = [(other, requester) for other, requester in self._requesters if other is not key]
        self._refused.append(key.name)
        logger.warning("GitHub at %s refused a token (%s)", self.host, key.name or "unnamed")

    def _exchange(self, requester: Requester, ask: Ask) -> Answer | _Failure:
        url = requester.graphql_url if ask.verb == "POST" else ask.path
        try:
            status, headers, text = requester.requestJson(
                ask.verb, url, dict(ask.parameters), dict(ask.headers), ask.body
            )
        except _Moved as moved:
            self._count(ask)
            return Answer(moved.status, moved.headers, None)
        except (requests.exceptions.RequestException, OSError) as error:
            if not _was_never_sent(error):
                self._count(ask)
            is_overload = isinstance(error, requests.exceptions.ReadTimeout)
            return _Failure(f"{_reason(error)} at {self.host}", is_overload=is_overload)
        self._count(ask)
        return self._answer(status, headers, text)

    def _answer(self, status: int, headers: Mapping[str, str], text: str) -> Answer | _Failure:
        try:
            return Answer(status, headers, json.loads(text) if text else None)
        except ValueError:
            if status < 400:
                return _Failure(f"{self.host} sent what is not JSON", is_nonsense=True)
            return Answer(status, headers, None)  # an error page of a proxy; its status says enough

    def _count(self, ask: Ask) -> None:
        if ask.verb == "POST":
            self.used.graphql += 1
        else:
            self.used.rest += 1

    def _reading(self, ask: Ask, result: Answer | _Failure) -> Reading:
        if isinstance(result, _Failure):
            return Reading(ask.resource, ask.cost)
        return limits.read(
            result.headers,
            status=result.status,
            message=result.message if result.status >= 400 else _graphql_limit(result.data),
            resource=ask.resource,
            reserved=ask.cost,
            now=self.clock(),
        )

    def _judged(self, result: Answer | _Failure) -> Answer | _Failure:
        if isinstance(result, Answer) and result.status >= 500:
            return _Failure(f"{self.host} answered {result.status}", is_overload=True)
        return result


def _graphql_limit(data: Any) -> str:
    """GraphQL says that a limit is reached in a 200, among its errors."""
    errors = data.get("errors") if isinstance(data, Mapping) else None
    for error in errors if isinstance(errors, list) else []:
        message = str(error.get("message") or "") if isinstance(error, Mapping) else ""
        if isinstance(error, Mapping) and error.get("type") == "RATE_LIMITED":
            return message if "rate limit" in message.lower() else "API rate limit exceeded"
        if "secondary rate limit" in message.lower():
            return message
    return ""


def _was_never_sent(error: BaseException) -> bool:
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, NewConnectionError)


def _reason(error: BaseException) -> str:
    if isinstance(error, requests.exceptions.Timeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return "an answer that broke off"
    return "no connection" if _was_never_sent(error) else "the connection was cut"
