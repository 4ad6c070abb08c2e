"""A harvest under kill -9: web, worker and broker die at random points, and are started again at once.

What is left in the end must be what an undisturbed harvest leaves.
"""

import http.client
import json
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from ops import processes
from ops.run import BIN, worker
from tests.services.github_server import GitHubServer, World
from tests.services.github_server.server import TOKEN, Entry
from tests.services.github_server.world import odd, repository

ROOT = Path(__file__).resolve().parents[2]
PLACE = "frame/wood"
PARTS = ("worker", "broker", "web")
PLENTY = {"core": 10**7, "search": 10**7, "graphql": 10**7}
ASKED = {"repositories": [PLACE], "moment": "merged", "first": "2020-12-01", "last": "2021-12-31"}


@dataclass(frozen=True)
class Outcome:
    """What came of a harvest."""

    seconds: float
    requests: int
    repeated: int  # requests answered before, and sent again
    again: list[set[str]]  # what they were about: a set for each time that they came in a row
    digest: str
    counts: dict[str, int]
    killed: dict[str, int]
    state: str


@dataclass
class Site:
    """Web, worker and broker as they run on one machine."""

    environment: dict[str, str]
    folder: Path
    running: dict[str, processes.Process] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.socket = processes.socket_path(self.folder)
        self.environment |= {
            "REDIS_URL": f"unix://{self.socket}",
            "BIND": f"fd://{self.listening.fileno()}",
            "CONCORD_VAR": str(self.folder),
            "DJANGO_SETTINGS_MODULE": "tests.services.chaos_settings",
            "WEB_WORKERS": "1",
        }

    def start(self, part: str) -> None:
        commands: dict[str, list[str | Path]] = {
            "web": [BIN / "gunicorn", "-c", "ops/gunicorn.conf.py"],
            "worker": worker(self.folder),
            "broker": [*processes.broker_command(self.folder, self.socket)],
        }
        if part == "broker":
            self.socket.unlink(missing_ok=True)
        more: dict[str, Any] = {"pass_fds": [self.listening.fileno()]} if part == "web" else {}
        with (self.folder / f"{part}.log").open("a") as log:
            self.running[part] = processes.start(
                commands[part], environment=self.environment, cwd=ROOT, stdout=log, stderr=log, **more
            )
        if part == "broker" and not processes.wait_for(self.socket, self.running[part]):
            raise RuntimeError(f"the broker did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def kill(self, part: str) -> None:
        process = self.running[part]
        process.kill()
        process.wait()
        self.killed[part] += 1
        self.start(part)

    def tend(self) -> None:
        """What ended by itself is started again, as whoever watches over it would."""
        for part, process in list(self.running.items()):
            if process.poll() is not None:
                self.start(part)

    def ask(self, method: str, path: str, key: str, body: Any = None, *, patience: float = 300) -> Any:
        """Again, as long as nobody answers: the web server may have been killed on the way."""
        deadline = time.monotonic() + patience
        while True:
            try:
                return self._once(method, path, key, body)
            except (OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _once(self, method: str, path: str, key: str, body: Any) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            headers = {"Authorization": f"Token {key}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 500:
            raise http.client.HTTPException(f"{answer.status}")
        return json.loads(content)

    def command(self, *arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "tests.services.chaos_study", *arguments],
            cwd=ROOT,
            env=self.environment,
            check=True,
            stdout=subprocess.PIPE,
        )
        return json.loads(done.stdout)

    def stop(self) -> None:
        processes.stop([process for part, process in self.running.items() if part != "broker"])
        processes.stop([process for part, process in self.running.items() if part == "broker"])
        self.listening.close()


@contextmanager
def running(environment: dict[str, str], folder: Path) -> Iterator[Site]:
    folder.mkdir(parents=True, exist_ok=True)
    site = Site(environment, folder)
    try:
        yield site
    finally:
        site.stop()


def world_of(items: int) -> World:
    """Plain ones over half a year, and one of each oddity."""
    place = repository(name=PLACE, pull_requests=items, days=180)
    odd(place, files=150)
    return World.of(place)


def compared(
    environment: dict[str, str], folder: Path, *, items: int, kills: int, seed: int, say: Any = lambda text: None
) -> tuple[Outcome, Outcome]:
    """An undisturbed harvest and one that is killed so often, of the same repository."""
    with GitHubServer(world_of(items), limits=PLENTY, grace=5) as github:
        access = {"GITHUB_API_URL": github.url, "GITHUB_TOKENS": TOKEN}
        with running(environment | access, folder) as site:
            key = site.command("begin", "calm", "storm")["key"]
            for part in ("broker", "web", "worker"):
                site.start(part)
            calm = carried_out(site, github, "calm", key, points=[], say=say)
            storm = carried_out(
                site, github, "storm", key, points=points_of(calm.requests, kills=kills, seed=seed), say=say
            )
    if github.wrong:
        raise RuntimeError(f"GitHub's contract was broken: {github.wrong[:3]}")
    return calm, storm


def points_of(requests: int, *, kills: int, seed: int) -> list[tuple[int, str, float]]:
    """After how many requests which part dies, and how many seconds into what follows."""
    chance = random.Random(seed)
    victims = [PARTS[place % len(PARTS)] for place in range(kills)]
    chance.shuffle(victims)
    places = sorted(chance.randrange(1, requests) for _ in range(kills))
    return [(place, victim, chance.random() * 0.05) for place, victim in zip(places, victims, strict=True)]


def carried_out(
    site: Site, github: GitHubServer, slug: str, key: str, *, points: list[tuple[int, str, float]], say: Any
) -> Outcome:
    github.log.clear()
    github._answered.clear()
    site.killed.clear()
    waiting, begun = list(points), time.monotonic()
    site.ask("POST", f"/api/v1/studies/{slug}/harvests/", key, ASKED)  # a second time it would be refused
    with ThreadPoolExecutor(1) as pool:
        over = pool.submit(watched, site, f"/api/v1/studies/{slug}/harvests/1/", key)
        while not over.done():
            if waiting and len(github.log) >= waiting[0][0]:
                place, victim, delay = waiting.pop(0)
                time.sleep(delay)
                site.kill(victim)
                say(f"{slug}: the {victim} was killed after {place} requests")
            site.tend()
            time.sleep(0.01)
    seconds, told = time.monotonic() - begun, site.command("state", slug)
    repeated, killed = len(github.repeated()), dict(site.killed)
    return Outcome(
        seconds,
        len(github.log),
        repeated,
        asked_again(github.log),
        told["digest"],
        told["counts"],
        killed,
        over.result(),
    )


def asked_again(log: list[Entry]) -> list[set[str]]:
    """After the end of a worker the next one asks for what was in hand, several requests where it is a large item."""
    rows = groupby(log, key=lambda entry: entry.is_repeated)
    return [{about(entry) for entry in entries} for is_repeated, entries in rows if is_repeated]


def about(entry: Entry) -> str:
    """The item's number, else the request itself: a page of a search."""
    found = re.search(r'/pulls/(\d+)/|"number": (\d+)', entry.name)
    return (found[1] or found[2]) if found else entry.name


def watched(site: Site, address: str, key: str) -> str:
    """The state in which it ends, as pages ask for it all the while."""
    deadline = time.monotonic() + 3_600
    while time.monotonic() < deadline:
        state = str(site.ask("GET", address, key)["harvest"]["state"])
        if state not in ("waiting", "running"):
            return state
        time.sleep(0.5)
    return "never ended"
