"""A cluster under Slurm. Slurm chooses where and when; what runs there is the sandbox of bubblewrap all the same.

Worker and nodes share a folder, and see this program at the same place. A job is a folder in it: what to run, what it
says, how it ended. The node writes, the worker reads; neither holds a connection that could break.
"""

import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp

from annotator.clients.sandboxes import owners
from annotator.clients.sandboxes.bubblewrap import refuse_unfit
from annotator.clients.sandboxes.job import Ended, Heard, How, Job, Refused, Stopped, Stream
from annotator.clients.sandboxes.letters import ENDED, REFUSED, SAID, read_ended, write_job

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ("sbatch", "squeue", "scancel", "scontrol")
PREFIX = "concord-"
LOOK, ASK = 0.1, 1.0  # seconds between looks into the folder, and between questions to the controller
OVER = {
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
}
CUT_SHORT = OVER - {"COMPLETED", "FAILED"}
OWN_MB = 256  # of the program that starts the sandbox on the node
LAG = 5.0  # seconds that a shared folder may take to show what another machine wrote


class Lost(Exception):
    """It began, and what became of it is not known: its node failed, or somebody cancelled it."""


@dataclass(kw_only=True)
class Slurm:
    """`folder` is shared between this machine and the nodes."""

    folder: Path
    options: Sequence[str] = ()  # for sbatch: a partition, an account
    gpu_files: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of GPUs that NVIDIA's library does not know
    silence: float = 900.0  # seconds that the controller may be away
    name: str = "slurm"

    def check(self, job: Job) -> None:
        refuse_unfit(replace(job, limits=replace(job.limits, gpus=0)))  # Slurm says which devices
        if job.image:
            self.pinned(job.image)
        if missing := next((tool for tool in TOOLS if not shutil.which(tool)), None):
            raise Refused(f"{missing} is not here: install Slurm's commands and its slurm.conf (Debian: slurm-client)")
        if " is UP" not in (said := _told("scontrol", "ping", fails=True)):
            raise Refused(f"Slurm's controller does not answer: {' '.join(said.split())[:200]}")
        self.folder.mkdir(parents=True, exist_ok=True)

    def pinned(self, image: str) -> str:
        raise Refused("an image needs a container engine: Slurm places the sandbox of bubblewrap")

    def run(self, job: Job, *, heard: Heard, stopped: Stopped) -> Ended:
        self.check(job)
        self.sweep()
        with self._place() as place:
            write_job(place, job, gpu_files=self.gpu_files)
            return Placed(slurm=self, job=job, place=place, number=self._submit(job, place), heard=heard).followed(
                stopped
            )

    def sweep(self) -> None:
        """Cancel what killed workers left in the queue or running, where there is a cluster that answers."""
        if not shutil.which("squeue"):
            return
        try:
            told = json.loads(_told("squeue", "--json").strip() or "{}")
        except (Refused, ValueError):
            return
        for one in told.get("jobs", []):
            owner, _, until = str(one.get("comment") or "").rpartition(" ")
            if str(one.get("name", "")).startswith(PREFIX) and owner and owners.is_gone(owner, until=float(until)):
                _told("scancel", str(one["job_id"]), fails=True)

    @contextmanager
    def _place(self) -> Iterator[Path]:
        place = Path(mkdtemp(prefix=PREFIX, dir=self.folder))  # nobody else may enter it
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _submit(self, job: Job, place: Path) -> str:
        script = place / "submitted.sh"
        script.write_text(f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m {PLACED} "{place}"\n')
        limits = job.limits
        line = [
            "--parsable", f"--job-name={PREFIX}{job.name[:80]}", f"--output={place}/node.log", "--export=PATH",
            "--no-requeue", "--ntasks=1", f"--mem={limits.memory_mb + OWN_MB}",
            f"--time={math.ceil(limits.seconds / 60) + 2}",
            f"--comment={owners.here()} {owners.until(86_400 * 7):.0f}",
        ]  # fmt: skip
        line += [f"--gres=gpu:{limits.gpus}"] if limits.gpus else []
        return _told("sbatch", *line, *self.options, str(script)).strip().partition(";")[0]


PLACED = "annotator.clients.sandboxes.placed"


@dataclass(kw_only=True)
class Placed:
    """One job in the hands of Slurm."""

    slurm: Slurm
    job: Job
    place: Path
    number: str
    heard: Heard
    read: dict[Stream, int] = field(default_factory=lambda: dict.fromkeys(Stream, 0))
    kept: dict[Stream, bytearray] = field(default_factory=lambda: {stream: bytearray() for stream in Stream})
    answered: float = field(default_factory=time.monotonic)  # when the controller last did

    def followed(self, stopped: Stopped) -> Ended:
        asked = time.monotonic()
        try:
            while not self._is_there():
                if stopped():
                    return self._cancelled()
                if time.monotonic() - asked >= ASK:
                    asked = time.monotonic()
                    if (state := self.state()) in OVER:
                        return self._without_word(state)
                time.sleep(LOOK)
            return self._told()
        except BaseException:
            self._cancel()
            raise

    def state(self) -> str:
        """As Slurm calls it; none where the controller is away, which a restart may take care of."""
        said = _told("scontrol", "show", "job", self.number, "--oneliner", fails=True)
        states = [word.partition("=")[2] for word in said.split() if word.startswith("JobState=")]
        if states:
            self.answered = time.monotonic()
            return states[0]
        if "Invalid job id" in said:
            return "COMPLETED"  # so long ago that it was forgotten
        if time.monotonic() - self.answered > self.slurm.silence:
            raise Lost(f"Slurm's controller did not answer for {self.slurm.silence:g} seconds")
        return ""

    def _is_there(self) -> bool:
        self._listen()
        return (self.place / ENDED).exists() or (self.place / REFUSED).exists()

    def _told(self) -> Ended:
        self._listen()
        if (self.place / REFUSED).exists():
            raise Refused(f"on the node that Slurm chose: {(self.place / REFUSED).read_text()}")
        if (state := self.state()) in CUT_SHORT:  # then what the node wrote is how it was cut short, and no result
            return self._cut(state)
        return read_ended(self.place, out=bytes(self.kept[Stream.OUT]), err=bytes(self.kept[Stream.ERR]))

    def _listen(self) -> None:
        for stream, name in SAID.items():
            with suppress(FileNotFoundError), (self.place / name).open("rb") as file:
                file.seek(self.read[stream])
                while piece := file.read(65_536):
                    self.read[stream] += len(piece)
                    self.kept[stream] += piece
                    self.heard(stream, piece)

    def _cancelled(self) -> Ended:
        self._cancel()
        return self._bare(How.CANCELLED)

    def _cancel(self) -> None:
        """Returns when it is over, so that nothing of it writes any more."""
        _told("scancel", self.number, fails=True)
        end = time.monotonic() + 60
        while self.state() not in OVER and time.monotonic() < end:
            time.sleep(LOOK)

    def _without_word(self, state: str) -> Ended:
        """Slurm says that it is over, and the node has not said how."""
        end = time.monotonic() + LAG
        while time.monotonic() < end:
            if self._is_there():
                return self._told()
            time.sleep(LOOK)
        return self._cut(state)

    def _cut(self, state: str) -> Ended:
        if state == "OUT_OF_MEMORY":
            return self._bare(How.OUT_OF_MEMORY)
        log = self.place / "node.log"
        said = " ".join(log.read_text(errors="replace").split())[-300:] if log.exists() else ""
        raise Lost(f"Slurm says {state} of job {self.number}, and its node says nothing more: {said}")

    def _bare(self, how: How) -> Ended:
        return Ended(
            how=how,
            exit_code=None,
            seconds=0.0,
            cpu_seconds=None,
            peak_mb=None,
            stdout=bytes(self.kept[Stream.OUT]),
            stderr=bytes(self.kept[Stream.ERR]),
        )


def _told(*line: str, fails: bool = False) -> str:
    """What a command of Slurm's says; its errors too, where it may fail. Raises Refused where it may not."""
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        if fails:
            return ""
        raise Refused(f"{line[0]} did not answer within a minute") from None
    if done.returncode and not fails:
        raise Refused(f"{line[0]}: {' '.join(done.stderr.split())[:300]}")
    return done.stdout if not done.returncode else done.stdout + done.stderr
