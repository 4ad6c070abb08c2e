"""HTTP on one kept-open connection: requests in, answers out, and connections that break on purpose."""

import json
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.services.github_server.rest import Reply


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def is_graphql(self) -> bool:
        return self.method == "POST" and self.path == "/graphql"

    @property
    def resource(self) -> str:
        if self.is_graphql:
            return "graphql"
        return "search" if self.path.startswith("/search/") else "core"

    def sorts(self) -> set[str]:
        if self.is_graphql:
            return {"graphql", "search"} if "search(" in str(self.body.get("query")) else {"graphql"}
        found = {"rest"}
        found |= {"search"} if self.path.startswith("/search/") else set()
        return found | ({"files"} if self.path.endswith("/files") else set())


class Disconnect(Exception):
    """The connection is to break: after half of the answer, or at once."""

    def __init__(self, reply: Reply | None = None) -> None:
        super().__init__()
        self.reply = reply


class Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    answer: Callable[[Request], Reply]
    clock: Callable[[], datetime]
    latency: float  # real seconds that an answer is on its way

    def do_GET(self) -> None:
        self._respond(None)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self._respond(json.loads(self.rfile.read(length) or "{}"))

    def _respond(self, body: Any) -> None:
        address = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, address.path, dict(parse_qsl(address.query)), headers, body)
        time.sleep(self.latency)
        try:
            self._write(self.answer(request))
        except Disconnect as broken:
            self._break_off(broken.reply)

    def _write(self, reply: Reply) -> None:
        content = self._head(reply)
        self.wfile.write(content)
        self.wfile.flush()

    def _head(self, reply: Reply) -> bytes:
        is_page = isinstance(reply.body, str)
        content = reply.body.encode() if is_page else b"" if reply.body is None else json.dumps(reply.body).encode()
        self.send_response_only(reply.status)
        self.send_header("Date", format_datetime(self.clock().replace(microsecond=0), usegmt=True))
        self.send_header(
            "Content-Type", "text/html" if is_page and reply.status >= 400 else "application/json; charset=utf-8"
        )
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return content

    def _break_off(self, reply: Reply | None) -> None:
        if reply is not None:
            content = self._head(reply)
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", int(reply is None), 0))
        self.close_connection = True
        if reply is None:
            self.connection.close()

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):
            return  # broken off on purpose

    def log_message(self, format: str, *args: object) -> None:
        """The log is ours."""
