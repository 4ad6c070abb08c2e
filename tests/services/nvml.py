"""A pretend NVIDIA library: the calls of nvidia-ml-py that we make, with their order and their errors."""

from dataclasses import dataclass, field
from types import SimpleNamespace

MB = 1024 * 1024


class NVMLError(Exception):
    pass


@dataclass
class PretendCard:
    uuid: str
    free_mb: int
    total_mb: int = 81_559
    name: str = "NVIDIA A100-SXM4-80GB"
    minor: int = 0


@dataclass
class PretendNvml:
    """Handed in as the library."""

    cards: list[PretendCard] = field(default_factory=list)
    has_driver: bool = True
    started: int = 0

    NVMLError = NVMLError

    def nvmlInit(self):
        if not self.has_driver:
            raise NVMLError("NVML Shared Library Not Found")
        self.started += 1

    def nvmlShutdown(self):
        self._must_have_started()
        self.started -= 1

    def nvmlDeviceGetCount(self):
        self._must_have_started()
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index):
        self._must_have_started()
        if not 0 <= index < len(self.cards):
            raise NVMLError("Invalid Argument")
        return self.cards[index]

    def nvmlDeviceGetUUID(self, handle):
        return self._of(handle).uuid

    def nvmlDeviceGetName(self, handle):
        return self._of(handle).name

    def nvmlDeviceGetMinorNumber(self, handle):
        return self._of(handle).minor

    def nvmlDeviceGetMemoryInfo(self, handle, version=None):
        card = self._of(handle)
        used = card.total_mb - card.free_mb
        return SimpleNamespace(total=card.total_mb * MB, free=card.free_mb * MB, used=used * MB)

    def nvmlSystemGetDriverVersion(self):
        self._must_have_started()
        return "550.54.15"

    def nvmlSystemGetCudaDriverVersion_v2(self):
        self._must_have_started()
        return 12_040

    def _of(self, handle):
        self._must_have_started()
        assert handle in self.cards
        return handle

    def _must_have_started(self):
        if not self.started:
            raise NVMLError("Uninitialized")
