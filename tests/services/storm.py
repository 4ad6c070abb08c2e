"""Two workers that die by kill -9 while they carry runs out, and are started again at once."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2

from ops import processes
from ops.run import worker

ROOT = Path(__file__).resolve().parents[2]
VISIBILITY = 6  # seconds after which the broker delivers a message again


@dataclass
class Workers:
    environment: dict[str, str]
    folder: Path
    running: dict[int, processes.Process] = field(default_factory=dict)
    killed: int = 0

    def __post_init__(self) -> None:
        self.environment |= {
            "CONCORD_VAR": str(self.folder),
            "DJANGO_SETTINGS_MODULE": "tests.services.storm_settings",
            "VISIBILITY_TIMEOUT": str(VISIBILITY),
        }

    def start(self, number: int) -> None:
        """Each with a beat of its own: whichever lives finds what the other left."""
        place = self.folder / f"worker-{number}"
        place.mkdir(parents=True, exist_ok=True)
        name = ["-n", f"worker-{number}@here"]
        with (place / "log").open("a") as log:
            self.running[number] = processes.start(
                [*worker(place), *name], environment=self.environment, cwd=ROOT, stdout=log, stderr=log
            )

    def kill(self, number: int) -> None:
        self.running[number].kill()
        self.running[number].wait()
        self.killed += 1
        self.start(number)

    def command(self, *arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "tests.services.storm_runs", *arguments],
            cwd=ROOT,
            env=self.environment,
            check=True,
            stdout=subprocess.PIPE,
        )
        return json.loads(done.stdout)


@contextmanager
def two_workers(environment: dict[str, str], folder: Path) -> Iterator[Workers]:
    workers = Workers(environment, folder)
    try:
        yield workers
    finally:
        processes.stop([*workers.running.values()])


def weathered(
    workers: Workers, *, repeats: int, seconds: int, kills: int, seed: int, patience: float = 240
) -> list[Any]:
    """What became of the runs. Every few seconds, while runs are carried out, one worker or the other is killed."""
    workers.command("begin", str(repeats), str(seconds))
    for number in (1, 2):
        workers.start(number)
    chance, deadline = random.Random(seed), time.monotonic() + patience
    with connected(workers.environment["DATABASE_URL"]) as count:
        while time.monotonic() < deadline and count("state <> 'ended'"):
            if workers.killed < kills and count("state = 'running' AND started_at < now() - interval '1.5 seconds'"):
                workers.kill(chance.choice([1, 2]))
                time.sleep(chance.uniform(1.5, 4))
            time.sleep(0.2)
    told: list[Any] = workers.command("state")
    return told


@contextmanager
def connected(address: str) -> Iterator[Callable[[str], int]]:
    """Counts runs for which something holds."""
    folder, name = address.removeprefix("postgres://concord@/").rsplit("/", 1)
    connection = psycopg2.connect(host=folder, user="concord", dbname=name)
    connection.autocommit = True

    def count(what: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM reproduction_run WHERE {what}")
            return int(cursor.fetchone()[0])

    try:
        yield count
    finally:
        connection.close()
