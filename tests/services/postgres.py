"""A PostgreSQL cluster of one's own, in a temporary folder, on a unix socket."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ops import processes

LOOSE = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]


def program(name: str) -> str | None:
    """On PATH, or where Debian keeps the servers, newest first."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    return str(versions[-1]) if versions else shutil.which(name)


def tool(name: str) -> str:
    found = program(name)
    if not found:
        raise FileNotFoundError(f"{name} is missing: install postgresql")
    return found


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    person = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}


@contextmanager
def cluster(*, durable: bool = False) -> Iterator[str]:
    """Start one and yield its DATABASE_URL; `durable` as in production, else as fast as tests like it."""
    folder = Path(tempfile.mkdtemp(prefix="concord-pg-", dir="/tmp"))
    owner = unprivileged()
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    server = None
    try:
        initialise(folder, owner)
        server = serve(folder, owner, durable=durable)
        yield f"postgres://concord@/{folder}/concord"
    finally:
        if server:
            processes.stop([server], how=2)
        shutil.rmtree(folder, ignore_errors=True)


def initialise(folder: Path, owner: dict[str, Any]) -> None:
    settings = ["-U", "concord", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
    command = [tool("initdb"), "-D", folder / "data", *settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **owner)


def serve(folder: Path, owner: dict[str, Any], *, durable: bool) -> processes.Process:
    quiet = ["-c", "listen_addresses=", "-c", "log_min_messages=fatal", "-c", "max_connections=100"]
    command = [tool("postgres"), "-D", folder / "data", "-k", folder, *quiet, *([] if durable else LOOSE)]
    with (folder / "log").open("w") as log:
        server = processes.start(command, stdout=log, stderr=log, cwd=folder, **owner)
    if not is_ready(folder, server, seconds=60):
        raise RuntimeError(f"PostgreSQL did not start: {(folder / 'log').read_text()}")
    create_database(folder, owner)
    return server


def is_ready(folder: Path, server: processes.Process, *, seconds: float) -> bool:
    """The socket is there before the server takes connections."""
    deadline = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < deadline:
        if subprocess.run([tool("pg_isready"), "-q", "-h", folder], check=False).returncode == 0:
            return True
        time.sleep(0.05)
    return False


def create_database(folder: Path, owner: dict[str, Any]) -> None:
    command = [tool("createdb"), "-h", folder, "-U", "concord", "concord"]
    subprocess.run(command, check=True, cwd=folder, **owner)
