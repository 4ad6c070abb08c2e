"""A sandbox out of a container engine: docker, or podman, whichever answers.

With an image the script runs in that; without one in an empty image onto which this machine's programs and libraries are
bound read-only, so that environments built here work inside as they do under bubblewrap.
"""

import math
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from annotator.clients.sandboxes import following, groups
from annotator.clients.sandboxes.bubble import (
    CONFIGURATION,
    FIRST_TO_GO,
    FIRST_USER,
    OPEN_FILES,
    PATH,
    USERS,
    WORK,
    unshelled,
)
from annotator.clients.sandboxes.bubblewrap import first_line, refuse_unfit
from annotator.clients.sandboxes.engine import HOST, Engine, labels
from annotator.clients.sandboxes.job import Ended, Heard, How, Job, Limits, Refused, Stopped

BEGIN = f'mkdir -m 777 {WORK} && cp -R /job/. {WORK} && chmod -R a+rw {WORK} && cd {WORK} || exit 125; "$@"'
OWN = 2  # the shell, and the step into the container
SHARED_MB = 64
MB = 1024 * 1024
SLACK = 60


@dataclass(kw_only=True)
class Containers:
    """The sandbox of machines with a container engine."""

    engine: Engine = field(default_factory=Engine)
    name: str = "docker"

    def check(self, job: Job) -> None:
        refuse_unfit(job)
        self.engine.refuse_weak(gpus=bool(job.devices))
        if said := trial(self.engine, self.engine.line):
            raise Refused(said)

    def sweep(self) -> None:
        self.engine.sweep()

    def pinned(self, image: str) -> str:
        return self.engine.pinned(image)

    def run(self, job: Job, *, heard: Heard, stopped: Stopped) -> Ended:
        self.check(job)
        return self._run(job, heard=heard, stopped=stopped)

    def _run(self, job: Job, *, heard: Heard, stopped: Stopped) -> Ended:
        self.engine.sweep()
        image = self.engine.image(job.image)
        with staged(job) as folder, self._container(job, image, folder) as made:
            process = self.engine.started("start", "--attach", made)
            use = Use(engine=self.engine, container=made)

            def kill() -> None:
                process.kill()  # first: the engine waits for whoever no longer reads what it hands on
                self.engine.remove(made)

            seen = following.follow(
                process,
                limits=job.limits,
                heard=heard,
                stopped=stopped,
                kill=kill,
                is_full=use.is_full,
            )
            if seen.how is not How.EXITED:
                return self._ended(job, seen, use, code=None)
            state = self.engine.state(made)
            if not state["began"]:
                raise Refused(f"the container engine could not start it: {state['error'] or first_line(seen.stderr)}")
            if state["out_of_memory"]:
                seen = replace(seen, how=How.OUT_OF_MEMORY)
            return self._ended(job, seen, use, code=unshelled(state["exit_code"]))

    def _ended(self, job: Job, seen: following.Seen, use: "Use", *, code: int | None) -> Ended:
        full = seen.how is How.OUT_OF_MEMORY
        return Ended(
            how=seen.how,
            exit_code=code if seen.how is How.EXITED else None,
            seconds=seen.seconds,
            cpu_seconds=use.cpu,
            peak_mb=max(use.most, job.limits.memory_mb) if full else use.most or None,
            stdout=seen.stdout,
            stderr=seen.stderr,
        )

    @contextmanager
    def _container(self, job: Job, image: str, folder: Path) -> Iterator[str]:
        """Made, not yet started; gone afterwards, whatever happens."""
        made = f"concord-{job.name[:80]}-{secrets.token_hex(4)}"
        try:
            self.engine.told(
                "create", "--name", made, *self.line(job, folder), image, "-c", BEGIN, "sh", *_command(job)
            )
            yield made
        finally:
            self.engine.remove(made)

    def line(self, job: Job, folder: Path) -> list[str]:
        """Everything that keeps it in."""
        limits = job.limits
        shared = min(SHARED_MB, max(limits.disk_mb // 4, 1))
        user = self.engine.user or FIRST_USER + secrets.randbelow(USERS)
        line = ["--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
        line += [f"--user={user}:{user}", "--hostname=sandbox", "--ipc=private", "--entrypoint=/bin/sh"]
        line += [f"--memory={limits.memory_mb}m", f"--memory-swap={limits.memory_mb}m"]
        line += [
            f"--pids-limit={limits.processes + OWN}",
            f"--ulimit=nofile={OPEN_FILES}:{OPEN_FILES}",
            "--ulimit=core=0",
            f"--ulimit=cpu={_most_cpu(limits)}",
        ]
        line += [
            f"--shm-size={shared}m",
            f"--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size={limits.disk_mb - shared}m",
        ]
        line += [
            f"--oom-score-adj={FIRST_TO_GO}",
            "--stop-timeout=0",
            "--log-driver=none",
            "--pull=never",
            *(f"--label={label}" for label in labels(limits.seconds)),
        ]
        line += self.engine.own_bounds()
        line += [f"--volume={folder}/job:/job:ro"]
        line += [f"--volume={folder}:{place}:ro" for place, folder in job.reads.items()]
        line += [] if job.image else _host(folder, user)
        if job.devices:
            line += self.engine.devices(job.devices)
        variables = _variables(job) if job.image else {"PATH": PATH}
        return line + [f"--env={name}={value}" for name, value in variables.items()]


@lru_cache(maxsize=4)
def trial(engine: Engine, line: tuple[str, ...]) -> str:
    """Run nothing in a container, once per process; the reason where that fails. An engine can answer and start nothing."""
    job = Job(name="trial", command=("true",), limits=Limits(seconds=60, memory_mb=64))
    try:
        ended = Containers(engine=engine)._run(job, heard=lambda *_: None, stopped=lambda: False)
    except Refused as refused:
        return str(refused)
    said = first_line(ended.stderr) or ended.how.value
    return "" if ended.exit_code == 0 else f"{line[0]} cannot run a container here: {said}"


@dataclass
class Use:
    """What a container uses, read from its control group while it runs."""

    engine: Engine
    container: str
    asked: int = 0
    group: groups.Group | None = None
    most: float = 0.0
    cpu: float | None = None

    def is_full(self) -> bool:
        if not self.group and self.asked < 5:
            self.asked += 1
            first = self.engine.state(self.container)["first"]
            self.group = groups.of(first) if first else None
        if not self.group:
            return False
        self.most = max(self.most, self.group.held_mb())
        self.cpu = max(self.cpu or 0.0, self.group.cpu_seconds() or 0.0)
        return self.group.was_full()


def _most_cpu(limits: Limits) -> int:
    """Seconds of each process: more than it can have in its time, so that it bounds a container that nobody watches."""
    return (math.ceil(limits.seconds) + SLACK) * (os.cpu_count() or 1)


def _variables(job: Job) -> dict[str, str]:
    devices = {"CUDA_VISIBLE_DEVICES": ",".join(job.devices)} if job.devices else {}
    return {"HOME": WORK, **({} if job.image else {"PATH": PATH}), **job.variables, **devices}


def _command(job: Job) -> list[str]:
    """An image's own variables belong to its environment; without one there are only the job's."""
    if job.image:
        return list(job.command)
    return ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in _variables(job).items()), *job.command]


@contextmanager
def staged(job: Job) -> Iterator[Path]:
    """The job's files in a folder that the container reads; nobody else can enter the one above it."""
    with tempfile.TemporaryDirectory(prefix="concord-job-") as above:
        folder = Path(above)
        files = folder / "job"
        files.mkdir(mode=0o755)
        for name, content in job.files.items():
            (files / name).write_bytes(content)
            (files / name).chmod(0o644)
        yield folder


def _host(folder: Path, user: int) -> list[str]:
    """This machine's programs, libraries and their configuration, and one account."""
    accounts = {
        "passwd": f"sandbox:x:{user}:{user}::{WORK}:/bin/sh\n",
        "group": f"sandbox:x:{user}:\n",
    }
    for name, text in accounts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o644)
    line = [f"--volume={folder}/{name}:/etc/{name}:ro" for name in accounts]
    line += [f"--volume=/etc/{name}:/etc/{name}:ro" for name in CONFIGURATION if Path("/etc", name).exists()]
    return line + [f"--volume={path}:{path}:ro" for path in HOST if path.is_dir() and not path.is_symlink()]
