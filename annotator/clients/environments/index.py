"""The package index, asked for what uv does not fetch: a package's source. PEP 503 and PEP 691."""

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import Request, urlopen

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from annotator.clients.environments.spec import NotInstalled

PUBLIC = "https://pypi.org/simple"
ACCEPTED = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
LARGEST = 256 * 1024 * 1024
SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Sdist:
    file: str
    sha256: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Index:
    address: str = ""  # none: as uv and pip are told by the environment

    def source(self, name: str, version: str) -> Sdist:
        """Raises NotInstalled where there is none, or not the one that the index speaks of."""
        page = self._page(canonicalize_name(name))
        if any(_is_wheel(file, name, version) for file, _ in page):
            raise NotInstalled(
                f"{name} {version} has wheels, but none for this Python: name another version of it, or of Python"
            )
        for file, link in page:
            if _is(file, name, version):
                address, _, fragment = link.partition("#")
                content = _fetched(address, LARGEST)
                digest = hashlib.sha256(content).hexdigest()
                if fragment != f"sha256={digest}":
                    raise NotInstalled(f"{file} is not what the package index says that it is", may_pass=True)
                return Sdist(file=file, sha256=digest, content=content)
        raise NotInstalled(f"the package index has neither a wheel nor a source of {name} {version} for this Python")

    def _page(self, name: str) -> list[tuple[str, str]]:
        """(file name, address#sha256=…) of everything published under a name."""
        base = self.address or _told() or PUBLIC
        address = f"{base.rstrip('/')}/{name}/"
        text = _fetched(address, LARGEST).decode(errors="replace")
        if text.lstrip().startswith("{"):
            files: list[dict[str, Any]] = json.loads(text)["files"]
            return [
                (one["filename"], f"{urljoin(address, one['url'])}#sha256={one['hashes'].get('sha256', '')}")
                for one in files
            ]
        links = _Links()
        links.feed(text)
        return [(unquote(urlsplit(link).path.rpartition("/")[2]), urljoin(address, link)) for link in links.found]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _told() -> str:
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    return next((os.environ[name] for name in names if os.environ.get(name)), "")


def _is(file: str, name: str, version: str) -> bool:
    if not re.fullmatch(r"[A-Za-z0-9_.+!-]+", file):
        return False
    try:
        found, at = parse_sdist_filename(file)
        return found == canonicalize_name(name) and at == Version(version)
    except (InvalidSdistFilename, InvalidVersion):
        return False


def _is_wheel(file: str, name: str, version: str) -> bool:
    try:
        found, at, _, _ = parse_wheel_filename(file)
        return found == canonicalize_name(name) and at == Version(version)
    except (InvalidWheelFilename, InvalidVersion):
        return False


def _fetched(address: str, most: int) -> bytes:
    parts = urlsplit(address)
    if parts.scheme not in ("https", "http"):
        raise NotInstalled(f"the package index is no web address, so that its sources cannot be had: {parts.scheme}:")
    host = parts.netloc.rpartition("@")[2]
    request = Request(urldefrag(parts._replace(netloc=host).geturl()).url, headers={"Accept": ACCEPTED})  # noqa: S310
    if parts.username:
        secret = base64.b64encode(f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()).decode()
        request.add_header("Authorization", f"Basic {secret}")
    try:
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310  # its scheme was looked at
            content: bytes = answer.read(most + 1)
    except HTTPError as error:
        error.close()
        refused = error.code in (401, 403, 404)
        raise NotInstalled(f"the package index does not give {parts.path}: {error}", may_pass=not refused) from None
    except (URLError, OSError) as error:
        raise NotInstalled(f"the package index does not give {parts.path}: {error}", may_pass=True) from None
    if len(content) > most:
        raise NotInstalled(f"{parts.path} of the package index is larger than {most // 1024**2} MB")
    return content
