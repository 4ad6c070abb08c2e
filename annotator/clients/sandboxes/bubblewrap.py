"""A sandbox out of the kernel's own parts, put together by bubblewrap: a run costs some ten milliseconds.

The script sees the programs and libraries of this machine, read-only, what the job names, and one working folder; of the
rest of the machine, its people, processes and network, nothing. docs/adr/0014 says what holds what.
"""

import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from annotator.clients.sandboxes import following, groups, trees
from annotator.clients.sandboxes.bubble import TOOLS, Bubble, Start, tool
from annotator.clients.sandboxes.job import Ended, Heard, How, Job, Limits, Refused, Stopped

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
TOO_WIDE = ("/", "/dev", "/proc", "/sys", "/etc", "/root", "/home", "/tmp", "/var", "/run", "/boot", "/mnt", "/media")  # noqa: S108
Nodes = Callable[[str], Iterable[Path]]  # the device files of a GPU


def no_nodes(device: str) -> Iterable[Path]:
    raise Refused(f"the GPU {device} cannot be handed to a script here: its device files are not known")


@dataclass(kw_only=True)
class Bubblewrap:
    """The sandbox of machines without a container engine."""

    nodes: Nodes = no_nodes
    gpu_used_mb: Callable[[Sequence[str]], float] | None = None  # of these devices now
    uses_groups: bool = True  # where they can be had; else what a run holds is watched from outside
    name: str = "local"

    def check(self, job: Job) -> None:
        refuse_unfit(job)
        if job.image:
            self.pinned(job.image)
        refuse_without_tools()
        for device in job.devices:
            list(self.nodes(device))
        if said := trial(os.geteuid()):
            raise Refused(said)

    def sweep(self) -> None:
        """Nothing is left: the kernel ends a sandbox with who started it."""

    def pinned(self, image: str) -> str:
        raise Refused("an image needs a container engine: choose the runner docker, or name a Python instead")

    def run(self, job: Job, *, heard: Heard, stopped: Stopped) -> Ended:
        self.check(job)
        with self._group(job) as group:
            devices = [node for device in job.devices for node in self.nodes(device)]
            start = Bubble(job=job, devices=devices, group=group).start()
            try:
                return self._followed(job, start, group, heard=heard, stopped=stopped)
            finally:
                start.close()

    @contextmanager
    def _group(self, job: Job) -> Iterator[groups.Group | None]:
        if not self.uses_groups:
            yield None
            return
        name = f"{job.name[:60]}-{secrets.token_hex(4)}"
        with groups.group(name, memory_mb=job.limits.memory_mb, processes=job.limits.processes + OWN) as group:
            yield group

    def _gpu(self, job: Job) -> "Gpu | None":
        ask = self.gpu_used_mb
        return Gpu(lambda: ask(job.devices)) if ask and job.devices else None

    def _followed(self, job: Job, start: Start, group: groups.Group | None, *, heard: Heard, stopped: Stopped) -> Ended:
        use = Use(job.limits, group, start, self._gpu(job))
        seen = following.follow(
            start.process, limits=job.limits, heard=heard, stopped=stopped, kill=start.kill, is_full=use.is_full
        )
        start.end()
        code = start.exit_code()
        if seen.how is How.EXITED and code is None:
            raise Refused(f"bubblewrap could not set up the sandbox: {first_line(seen.stderr)}")
        return Ended(
            how=seen.how,
            exit_code=code if seen.how is How.EXITED else None,
            seconds=seen.seconds,
            cpu_seconds=use.cpu_seconds(),
            peak_mb=use.peak_mb(seen.how),
            gpu_peak_mb=use.gpu.most if use.gpu else None,
            stdout=seen.stdout,
            stderr=seen.stderr,
        )


OWN = 3  # bubblewrap outside, bubblewrap as the first process inside, and the step between


@dataclass
class Gpu:
    """What a run adds to the memory in use on its devices; asked twice a second, since the driver takes its time."""

    used_mb: Callable[[], float]
    most: float = 0.0
    looked: float = 0.0
    before: float = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.used_mb()

    def look(self) -> None:
        if time.monotonic() - self.looked >= 0.5:
            self.most = max(self.most, self.used_mb() - self.before)
            self.looked = time.monotonic()


@dataclass
class Use:
    """What a run uses, by its control group, or by looking at its processes again and again."""

    limits: Limits
    group: groups.Group | None
    start: Start
    gpu: "Gpu | None" = None
    most: float = 0.0
    cpu: float = 0.0

    def is_full(self) -> bool:
        if self.gpu:
            self.gpu.look()
        if self.group:
            self.most = max(self.most, self.group.held_mb())
            return self.group.was_full()
        self.most = max(self.most, trees.held_mb(self.start.first))
        self.cpu = max(self.cpu, trees.cpu_seconds(self.start.first))
        return self.most > self.limits.memory_mb

    def cpu_seconds(self) -> float | None:
        return self.group.cpu_seconds() if self.group else self.cpu

    def peak_mb(self, how: How) -> float | None:
        if how is How.OUT_OF_MEMORY:
            return max(self.most, float(self.limits.memory_mb))
        return max(self.most, self.group.most_mb() if self.group else 0.0) or None


def refuse_unfit(job: Job) -> None:
    """What no sandbox takes."""
    limits = job.limits
    if min(limits.seconds, limits.memory_mb, limits.processes, limits.disk_mb, limits.output_kb) <= 0:
        raise Refused("time, memory, processes, disk and output of a job are bounded, each by more than nothing")
    if not NAME.fullmatch(job.name):
        raise Refused("the name of a job is of small letters, digits and dashes")
    if not job.command or any("\0" in word for word in (*job.command, *job.variables.values())):
        raise Refused("a job has a command, of words without NUL")
    if "=" in job.command[0]:
        raise Refused("the name of a program holds no equals sign")
    if bad := next((name for name in job.variables if not VARIABLE.fullmatch(name)), None):
        raise Refused(f"{bad!r} is no name of an environment variable")
    if bad := next((name for name in job.files if not FILE.fullmatch(name)), None):
        raise Refused(f"{bad!r} is no plain file name")
    if limits.gpus > len(job.devices):
        raise Refused(f"the job asks for {limits.gpus} GPU, and was given {len(job.devices)}")
    for folder in job.reads.values():
        refuse_folder(folder)


def refuse_folder(folder: Path) -> None:
    if not folder.is_absolute() or ".." in folder.parts or not folder.exists():
        raise Refused(f"{folder} is no folder of this machine that a script could read")
    if str(folder) in TOO_WIDE or folder == Path.home() or folder.resolve() == Path.home():
        raise Refused(f"{folder} holds more than a script may read")


def refuse_without_tools() -> None:
    if sys.platform != "linux":
        raise Refused("bubblewrap runs on Linux alone: use a container engine here")
    for name in TOOLS:
        tool(name)


@lru_cache(maxsize=4)
def trial(uid: int) -> str:
    """Run nothing in a sandbox, once per process; the reason where that fails. The user is asked by number, for the cache."""
    job = Job(name="trial", command=("true",), limits=Limits(seconds=10))
    try:
        start = Bubble(job=job, devices=[], group=None).start()
    except (OSError, Refused) as error:
        return str(error)
    try:
        seen = following.follow(
            start.process, limits=job.limits, heard=lambda *_: None, stopped=lambda: False, kill=start.kill
        )
        if start.exit_code() == 0:
            return ""
    finally:
        start.close()
    said = first_line(seen.stderr) or "it ended without a word"
    return f"bubblewrap cannot make a sandbox here ({said}): user namespaces may be switched off for user {uid}"


def first_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[0][:300] if lines else ""
