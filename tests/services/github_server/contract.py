"""GitHub's own descriptions of its interfaces, from npm, kept in var/: the GraphQL schema and the OpenAPI document."""

import fcntl
import functools
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CACHE = Path(__file__).resolve().parents[3] / "var" / "github-contract"

GRAPHQL = ("@octokit/graphql-schema", "15.26.1", "package/schema.graphql")
OPENAPI = ("@octokit/openapi", "23.0.2", "package/generated/api.github.com.json")


class NoContract(Exception):
    """GitHub's descriptions can't be had, so nothing can be checked against them."""


@functools.cache
def graphql_schema() -> Any:
    from graphql import build_ast_schema, parse

    document = parse(published(*GRAPHQL).read_text("utf-8"), no_location=True)
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)  # the published file names fields twice


@functools.cache
def openapi() -> dict[str, Any]:
    return json.loads(published(*OPENAPI).read_text("utf-8"))


def published(package: str, version: str, member: str) -> Path:
    """The file of the package, fetched when it is not here yet."""
    kept = CACHE / f"{package.split('/')[-1]}-{version}{Path(member).suffix}"
    if kept.exists():
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    with alone():
        if not kept.exists():
            fetch(f"{package}@{version}", member, kept)
    return kept


@contextmanager
def alone() -> Iterator[None]:
    """Several test processes start at once; one fetches."""
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(package: str, member: str, kept: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NoContract(
            f"The GitHub tests need npm, to fetch {package}: install it (Debian, Ubuntu: apt install npm)."
        )
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", package, "--silent", "--pack-destination", folder]
        ended = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=300)
        packed = list(Path(folder).glob("*.tgz"))
        if ended.returncode or not packed:
            raise NoContract(f"npm could not fetch {package}: {ended.stderr.strip()[-400:] or 'no reason given'}")
        unpack(packed[0], member, kept)


def unpack(packed: Path, member: str, kept: Path) -> None:
    with tarfile.open(packed) as archive, tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as part:
        inside = archive.extractfile(member)
        if inside is None:
            raise NoContract(f"{packed.name} holds no {member}")
        shutil.copyfileobj(inside, part)
    Path(part.name).replace(kept)
