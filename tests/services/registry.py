"""A registry of container images on loopback: as much of the distribution protocol as docker and podman need."""

import hashlib
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BLOB = re.compile(r"/v2/(.+)/blobs/(sha256:[0-9a-f]{64})")
UPLOAD = re.compile(r"/v2/(.+)/blobs/uploads/([0-9a-f-]*)")
MANIFEST = re.compile(r"/v2/(.+)/manifests/([\w:.-]+)")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    blobs: dict[str, bytes]
    manifests: dict[str, tuple[str, bytes]]  # by digest and by tag: kind and content
    uploads: dict[str, bytes]

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def sent(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/v2/":
            self.answer(200)
        elif (found := BLOB.fullmatch(path)) and found[2] in self.blobs:
            self.answer(200, self.blobs[found[2]], Docker_Content_Digest=found[2])
        elif (found := MANIFEST.fullmatch(path)) and found[2] in self.manifests:
            kind, content = self.manifests[found[2]]
            self.answer(200, content, Content_Type=kind, Docker_Content_Digest=digest(content))
        else:
            self.answer(404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.sent()
        self.take(str(uuid.uuid4()), b"", status=202)

    def do_PATCH(self) -> None:
        found = UPLOAD.fullmatch(self.path.partition("?")[0])
        self.take(found[2], self.sent(), status=202)

    def do_PUT(self) -> None:
        path = self.path.partition("?")[0]
        if found := UPLOAD.fullmatch(path):
            content = self.uploads.pop(found[2], b"") + self.sent()
            self.blobs[digest(content)] = content
            self.answer(201, Docker_Content_Digest=digest(content))
            return
        content, kind = self.sent(), self.headers["Content-Type"]
        for name in (digest(content), MANIFEST.fullmatch(path)[2]):
            self.manifests[name] = (kind, content)
        self.answer(201, Docker_Content_Digest=digest(content))

    def take(self, upload: str, piece: bytes, *, status: int) -> None:
        self.uploads[upload] = self.uploads.get(upload, b"") + piece
        place = self.path.partition("/blobs/")[0]
        end = max(0, len(self.uploads[upload]) - 1)
        self.answer(status, Location=f"{place}/blobs/uploads/{upload}", Range=f"0-{end}")

    def log_message(self, *_: object) -> None:
        return


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextmanager
def registry() -> Iterator[str]:
    """Yields its host and port."""
    own = type("Own", (Handler,), {"blobs": {}, "manifests": {}, "uploads": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), own)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
