"""What this machine works with: interpreters, environments that are kept, sandboxes, GPUs."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from annotator.clients.environments import interpreters
from annotator.clients.environments.store import Environments
from annotator.clients.gpu import Gpus, NoGpu
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.containers import Containers
from annotator.clients.sandboxes.job import Job, Limits, Refused, Sandbox
from annotator.clients.sandboxes.slurm import Slurm
from annotator.reproduction.matching import DOCKER, LOCAL, RUNNERS, SLURM, Can, Needs, runner_for
from annotator.reproduction.placeless import placeless

MB = 1024 * 1024
TRIAL = Job(name="trial", command=("true",), limits=Limits(memory_mb=64))
KEPT_MB = 20_000.0  # of environments
SWEEP_EVERY = 60.0  # seconds
STALE = 60.0  # seconds after which sandboxes are tried again


class Devices(Protocol):
    """The GPUs of a machine, each for one job at a time."""

    def free_mb(self) -> Sequence[int]:
        """Of each device that no job holds."""

    def count(self) -> int: ...

    @contextmanager
    def held(self, *, memory_mb: int) -> Iterator[str]:
        """One device, as CUDA_VISIBLE_DEVICES names it. Raises NoGpu."""

    def told(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        """Model, memory, driver and CUDA of these."""


class NoDevices:
    def free_mb(self) -> Sequence[int]:
        return ()

    def count(self) -> int:
        return 0

    @contextmanager
    def held(self, *, memory_mb: int) -> Iterator[str]:
        if memory_mb >= 0:
            raise NoGpu("It waits for a GPU runner: this machine has no GPU")
        yield ""

    def told(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        return []


@dataclass(frozen=True, kw_only=True)
class Workshop:
    environments: Environments
    sandboxes: Mapping[str, Sandbox]  # by runner
    gpus: Devices = field(default_factory=NoDevices)
    asked: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def can(self, needs: Needs | None = None) -> Can:
        """What it can do now; of what is needed, an interpreter by its patch version or path is looked for too."""
        pythons = [one.version for one in interpreters.found()]
        if needs and needs.python and not needs.image and (found := interpreters.find(needs.python)):
            pythons += [found.version, needs.python]
        return Can(
            pythons=pythons,
            memory_mb=memory_mb(),
            gpus=self.gpus.count(),
            gpu_free_mb=list(self.gpus.free_mb()),
            runners=self.reasons(),
        )

    def reasons(self) -> dict[str, str]:
        """By runner: empty where it works here, else why not. Asked anew after a minute."""
        if time.monotonic() - self.asked.get("at", -STALE) >= STALE:
            own = self.environments.folder
            told = {name: placeless(_why_not(one), own=own) for name, one in self.sandboxes.items()}
            self.asked.update(at=time.monotonic(), told=told)
        return dict(self.asked["told"])

    def sandbox_for(self, needs: Needs) -> Sandbox:
        """Raises Refused: there is no falling back to running a script bare."""
        can = Can(runners=self.reasons())
        name = runner_for(needs, can)
        if name is not None:
            return self.sandboxes[name]
        wanted = needs.runner or (DOCKER if needs.image else LOCAL)
        raise Refused(can.runners.get(wanted) or f"the runner {wanted} is not set up on this machine")

    def sweep(self) -> None:
        """End what killed workers of this machine left in the hands of a container engine or of Slurm."""
        for one in self.sandboxes.values():
            with suppress(Refused):  # it is not here, or does not answer: the next time is soon
                one.sweep()

    def environments_with(self, sandbox: Sandbox) -> Environments:
        """Set-up commands run where the script will."""
        return replace(self.environments, sandbox=sandbox)

    @contextmanager
    def devices(self, *, count: int, memory_mb: int) -> Iterator[tuple[str, ...]]:
        if not count:
            yield ()
            return
        with self.gpus.held(memory_mb=memory_mb) as device:
            yield (device,)

    def told(self, devices: Sequence[str]) -> list[Mapping[str, Any]]:
        return self.gpus.told(devices)


def workshop(folder: Path, *, runners: Sequence[str] = ()) -> Workshop:
    """Of this machine; `runners` narrows what it may contain scripts by."""
    wanted = runners or RUNNERS
    gpus = Gpus(locks=folder / "gpus")
    sandboxes = {name: one for name, one in all_sandboxes(folder, gpus).items() if name in wanted}
    return Workshop(environments=Environments(folder=folder), sandboxes=sandboxes, gpus=gpus)


def all_sandboxes(folder: Path, gpus: Gpus) -> dict[str, Sandbox]:
    return {
        LOCAL: Bubblewrap(nodes=gpus.nodes, gpu_used_mb=gpus.used_mb),
        DOCKER: Containers(),
        SLURM: Slurm(folder=folder / "slurm"),
    }


def _why_not(sandbox: Sandbox) -> str:
    """Empty where it works here."""
    try:
        sandbox.check(TRIAL)
    except Refused as refused:
        return str(refused)[:500] or "it does not work here"
    return ""


@lru_cache(maxsize=1)
def memory_mb() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MB
