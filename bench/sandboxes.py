"""What a sandbox adds to a process, and how soon a kept environment runs: beside the bare process, and docker run.

Each in turn, so that a busy moment hits all alike; the median of them.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from annotator.clients.environments.spec import Environment, Spec
from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.containers import Containers
from annotator.clients.sandboxes.job import Job, Sandbox
from tests.services import engine

TIMES = 40
OF_ENGINE = 7  # it takes fifty times as long


@dataclass(frozen=True)
class Starts:
    """Medians, in ms."""

    bare: float
    sandboxed: float
    environment: float  # from asking for one that is kept until its Python has run nothing
    docker: float | None  # none where no engine can be had

    @property
    def overhead(self) -> float:
        return self.sandboxed - self.bare


def measured() -> Starts:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="concord-bench-", dir="/tmp")))
        environments = Environments(folder=folder)
        lock = environments.lock(Spec(requirements=("six==1.16.0",)))

        def kept() -> None:
            with environments.ready(lock) as environment:
                run(Bubblewrap(), environment.python, "-c", "pass", environment=environment)

        acts: dict[str, Callable[[], None]] = {
            "bare": bare,
            "sandboxed": lambda: run(Bubblewrap(), "true"),
            "kept": kept,
        }
        for act in acts.values():
            act()  # what is done once per process or environment is done
        taken = in_turn(acts, TIMES)
        return Starts(
            bare=taken["bare"], sandboxed=taken["sandboxed"], environment=taken["kept"], docker=of_engine(stack)
        )


def of_engine(stack: ExitStack) -> float | None:
    if not engine.program() or (os.geteuid() != 0 and not engine.answers()):
        return None
    os.environ.update(stack.enter_context(engine.engine()))
    containers = Containers()
    line = [*containers.engine.line, "run", "--rm", "--network=none", "--volume=/usr:/usr:ro"]
    run(containers, "true")  # the empty image is made
    command = [*line, containers.engine.image(""), "true"]
    return in_turn({"docker": lambda: subprocess.run(command, check=True, capture_output=True)}, OF_ENGINE)["docker"]


def bare() -> None:
    subprocess.run(["true"], check=True, capture_output=True)


def run(sandbox: Sandbox, *command: str, environment: Environment | None = None) -> None:
    job = Job(name="bench", command=command)
    if environment:
        job = replace(job, reads=environment.reads, variables=environment.variables)
    ended = sandbox.run(job, heard=lambda *_: None, stopped=lambda: False)
    if ended.exit_code:
        sys.exit(f"{command} in {sandbox.name}: {ended.stderr.decode()}")


def in_turn(acts: Mapping[str, Callable[[], object]], times: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(times):
        for name, act in acts.items():
            started = time.perf_counter()
            act()
            taken[name].append((time.perf_counter() - started) * 1000)
    return {name: statistics.median(values) for name, values in taken.items()}
