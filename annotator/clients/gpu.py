"""The GPUs of this machine, asked through NVIDIA's own library, each handed to one job at a time.

The library comes with the driver; where there is no driver there are no GPUs, and that is no error.
"""

import ctypes
import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from annotator.clients.sandboxes.job import Refused

MB = 1024 * 1024
COMMON = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")  # device files that every job with a GPU needs


class NoGpu(Exception):
    """No device is free that has what a job needs: says why."""


@dataclass(frozen=True, kw_only=True)
class Device:
    uuid: str  # as CUDA_VISIBLE_DEVICES names it
    model: str
    minor: int  # of its device file
    memory_mb: int
    free_mb: int
    driver: str
    cuda: str  # the newest that the driver runs: 12.4


def nvml() -> Any:
    """NVIDIA's library, as nvidia-ml-py gives it. None without a driver: the binding alone takes a worker 12 MB."""
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    import pynvml

    return pynvml


@dataclass(frozen=True, kw_only=True)
class Gpus:
    """`locks` is a folder that all workers of this machine share."""

    locks: Path
    library: Any = field(default_factory=nvml)
    jobs_each: int = 1  # more only where somebody allowed it
    files: Path = Path("/dev")

    def devices(self) -> list[Device]:
        """All that are here, whether in use or not."""
        ask = self.library
        if ask is None:
            return []
        try:
            ask.nvmlInit()
        except ask.NVMLError:
            return []  # no driver, or none that works
        try:
            return [self._device(place) for place in range(ask.nvmlDeviceGetCount())]
        except ask.NVMLError:
            return []
        finally:
            ask.nvmlShutdown()

    def count(self) -> int:
        return len(self.devices())

    def free_mb(self) -> Sequence[int]:
        """Of each device that has room for a job."""
        return [device.free_mb for device in self.devices() if self._has_room(device)]

    @contextmanager
    def held(self, *, memory_mb: int) -> Iterator[str]:
        """One device for one job, the emptiest that has the memory. Raises NoGpu."""
        devices = sorted(self.devices(), key=lambda device: device.free_mb, reverse=True)
        if not devices:
            raise NoGpu("It waits for a GPU runner: this machine has no GPU")
        fitting = [device for device in devices if device.free_mb >= memory_mb]
        if not fitting:
            raise NoGpu(f"It waits for a GPU with {memory_mb:,} MB free: the most here is {devices[0].free_mb:,} MB")
        with ExitStack() as stack:
            taken = next((device for device in fitting if self._take(device, stack)), None)
            if not taken:
                raise NoGpu("It waits for a GPU: each one here that has the memory is in use")
            yield taken.uuid

    def named(self, device: str) -> str:
        """By its UUID, which a scheduler may have told by its place; as it stands where it is not known here."""
        devices = self.devices()
        known = device.isdigit() and int(device) < len(devices)
        return devices[int(device)].uuid if known else device

    def told(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        """Model, memory in MB, driver and CUDA of these."""
        return [asdict(device) for device in self.devices() if device.uuid in names]

    def used_mb(self, names: Sequence[str]) -> float:
        """Of these together, by whomever."""
        return sum(float(device.memory_mb - device.free_mb) for device in self.devices() if device.uuid in names)

    def nodes(self, name: str) -> Iterable[Path]:
        """Its device files, and those that all share. Raises Refused."""
        device = next((device for device in self.devices() if device.uuid == name), None)
        if not device or not (own := self.files / f"nvidia{device.minor}").exists():
            raise Refused(f"the GPU {name} is not on this machine")
        return [own, *(path for path in (self.files / common for common in COMMON) if path.exists())]

    def _device(self, place: int) -> Device:
        ask = self.library
        handle = ask.nvmlDeviceGetHandleByIndex(place)
        memory = ask.nvmlDeviceGetMemoryInfo(handle)
        cuda = ask.nvmlSystemGetCudaDriverVersion_v2()
        return Device(
            uuid=_text(ask.nvmlDeviceGetUUID(handle)),
            model=_text(ask.nvmlDeviceGetName(handle)),
            minor=ask.nvmlDeviceGetMinorNumber(handle),
            memory_mb=memory.total // MB,
            free_mb=memory.free // MB,
            driver=_text(ask.nvmlSystemGetDriverVersion()),
            cuda=f"{cuda // 1000}.{cuda % 1000 // 10}",
        )

    def _has_room(self, device: Device) -> bool:
        with ExitStack() as stack:
            return self._take(device, stack)

    def _take(self, device: Device, stack: ExitStack) -> bool:
        """Hold a place on it until the stack is left, also by being killed."""
        self.locks.mkdir(parents=True, exist_ok=True)
        for place in range(self.jobs_each):
            file = (self.locks / f"{device.uuid}.{place}").open("w")
            if _locked(file):
                stack.enter_context(file)
                return True
            file.close()
        return False


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _text(told: str | bytes) -> str:
    """Older versions of the library answer in bytes."""
    return os.fsdecode(told)
