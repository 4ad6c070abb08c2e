"""What a sandbox is given, and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a job may use. A sandbox that cannot hold it to one of these refuses the job."""

    seconds: float = 120.0  # of wall time
    memory_mb: int = 2048
    processes: int = 256  # threads are counted too
    disk_mb: int = 1024  # of what it writes
    output_kb: int = 1024  # of standard output, and of standard error
    gpus: int = 0
    gpu_memory_mb: int = 0  # that a device must have free beforehand


@dataclass(frozen=True, kw_only=True)
class Job:
    """One command in an empty working folder of its own, without network."""

    name: str  # small letters, digits, dashes: of what the sandbox makes for it, so that nothing stays behind
    command: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)  # in the working folder, by plain names
    reads: Mapping[str, Path] = field(default_factory=dict)  # folders of the host that it sees, by where; read-only
    variables: Mapping[str, str] = field(default_factory=dict)  # all that its environment holds, but for PATH and HOME
    image: str = ""  # instead of the host's own system, where the sandbox is a container engine
    limits: Limits = field(default_factory=Limits)
    devices: tuple[str, ...] = ()  # GPUs it may use, as CUDA_VISIBLE_DEVICES names them


class How(StrEnum):
    """What ended a job."""

    EXITED = "exited"  # also by a signal of its own: then the exit code is negative
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    TOO_MUCH_OUTPUT = "too_much_output"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A job that is over, with everything it started."""

    how: How
    exit_code: int | None  # none where it did not end by itself
    seconds: float
    cpu_seconds: float | None
    peak_mb: float | None
    stdout: bytes  # at most what the limits say
    stderr: bytes
    gpu_peak_mb: float | None = None


class Refused(Exception):
    """The host cannot run this safely: says what is missing and what to do about it."""


class Stream(StrEnum):
    OUT = "out"
    ERR = "err"


Heard = Callable[[Stream, bytes], None]  # called with each piece of output as it comes
Stopped = Callable[[], bool]  # asked a few times a second; True ends the job at once


class Sandbox(Protocol):
    """A way of keeping scripts in."""

    name: str  # local, docker, slurm

    def check(self, job: Job) -> None:
        """Raise Refused where this host cannot hold such a job to its limits."""

    def sweep(self) -> None:
        """End what killed workers left to somebody else to run. Raises Refused where that cannot be asked."""

    def pinned(self, image: str) -> str:
        """The image by its digest, wherever its name leads to later; fetched if need be. Raises Refused."""

    def run(self, job: Job, *, heard: Heard, stopped: Stopped) -> Ended:
        """Run it to its end, whatever that is; nothing of it is left. Raises Refused before anything has run."""
