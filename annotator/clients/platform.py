"""The platform as a runner's host sees it: four addresses, one key."""

import http.client
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST_ANSWER = 8 * 1024 * 1024
PASSING = (408, 425, 429, 500, 502, 503, 504)


class NoAnswer(Exception):
    """Nobody answered, or only to say that it cannot now: ask again later."""


class NotAllowed(Exception):
    """The key is unknown, revoked, expired, or no host's."""


class Refused(Exception):
    """What was sent cannot be taken; `status` says why."""

    def __init__(self, said: str, *, status: int) -> None:
        super().__init__(said)
        self.status = status


class Platform:
    """Asks over one connection at a time; safe to be used by several threads, each with its own `Platform`."""

    def __init__(self, address: str, key: str, *, seconds: float = 15.0) -> None:
        """Raises ValueError where the address is none that a key may be sent to."""
        self.parts, self.key, self.seconds = checked(address), key, seconds

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer's document; None where there is no content."""
        connection = self._connection()
        try:
            headers = {"Authorization": f"Token {self.key}", "Content-Type": "application/json", "Accept": "*/*"}
            sent = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            connection.request("POST", f"{self.parts.path.rstrip('/')}/api/v1/runner/{path}/", sent, headers)
            answer = connection.getresponse()
            return read(answer.status, answer.read(LARGEST_ANSWER))
        except (OSError, http.client.HTTPException) as problem:
            raise NoAnswer(f"{self.parts.netloc} does not answer ({type(problem).__name__})") from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.parts.hostname or "", self.parts.port
        if self.parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self.seconds)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=self.seconds, context=context)


def checked(address: str) -> Any:
    """Split; https, or http to this machine alone, since the key goes with each request."""
    parts = urlsplit(address)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not is_safe or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"{address[:200]} is no address to send a key to: it begins with https://")
    parts.port  # noqa: B018  # raises ValueError where it is no number
    return parts


def read(status: int, content: bytes) -> dict[str, Any] | None:
    if status == 204:
        return None
    if status in (401, 403):
        raise NotAllowed(detail(content) or "the key is not taken")
    if status in PASSING:
        raise NoAnswer(f"the platform answers {status}")
    if status >= 300:
        raise Refused(detail(content) or f"the platform answers {status}", status=status)
    try:
        told = json.loads(content)
    except ValueError:
        raise NoAnswer("what answers is not the platform") from None
    if not isinstance(told, dict):
        raise NoAnswer("what answers is not the platform")
    return told


def detail(content: bytes) -> str:
    """The sentence of a problem document."""
    try:
        told = json.loads(content)
    except ValueError:
        return ""
    return str(told.get("detail", ""))[:500] if isinstance(told, dict) else ""
