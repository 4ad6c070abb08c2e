"""The web server as it runs in production, on a database of its own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops import processes

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Site:
    """A study under way and the server in front of it."""

    port: int
    environment: dict[str, str]
    study: dict[str, Any]


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


def surroundings(database: str, redis: str, var: Path) -> dict[str, str]:
    names = ("DATABASE_", "REDIS_", "CONCORD_", "DJANGO_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    chosen = {"DATABASE_URL": database, "REDIS_URL": redis, "CONCORD_VAR": str(var)}
    return clean | chosen | {"DJANGO_SETTINGS_MODULE": "bench.settings", "MALLOC_ARENA_MAX": "2"}


def command(environment: dict[str, str], *arguments: str) -> str:
    """What a Python module of the project prints."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


@contextmanager
def serving(environment: dict[str, str], *, bugs: int, raters: int) -> Iterator[Site]:
    """Seed the database, collect static files, start gunicorn."""
    study = json.loads(command(environment, "bench.seed", str(bugs), str(raters)))
    command(environment, "django", "collectstatic", "--noinput", "--verbosity", "0", "--skip-checks")
    port = free_port()
    gunicorn: list[str | Path] = [Path(sys.executable).parent / "gunicorn", "-c", "ops/gunicorn.conf.py"]
    process = processes.start(gunicorn, environment=environment | {"BIND": f"127.0.0.1:{port}"}, cwd=ROOT)
    try:
        wait_until_served(f"http://127.0.0.1:{port}/healthz", process)
        yield Site(port, environment, study)
    finally:
        processes.stop([process])


def wait_until_served(url: str, process: "subprocess.Popen[Any]", *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"{url} is not served")
