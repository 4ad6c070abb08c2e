"""GPUs: what there is, who holds which, and what a job is shown. By a pretend library; what needs a card is listed in
docs/runners.md.
"""

import inspect
import subprocess
import sys
from pathlib import Path

import pynvml
import pytest

from annotator.clients import gpu
from annotator.clients.gpu import Gpus, NoGpu
from annotator.clients.sandboxes.job import Refused
from tests.services.nvml import PretendCard, PretendNvml

ROOT = Path(__file__).resolve().parents[3]


def gpus(tmp_path, *cards, **options) -> Gpus:
    files = tmp_path / "dev"
    files.mkdir(exist_ok=True)
    for name in ("nvidiactl", "nvidia-uvm", *(f"nvidia{card.minor}" for card in cards)):
        (files / name).touch()
    return Gpus(locks=tmp_path / "locks", library=PretendNvml(cards=list(cards)), files=files, **options)


ONE, TWO = PretendCard("GPU-one", 70_000), PretendCard("GPU-two", 30_000, minor=1)


def test_model_memory_driver_and_cuda_are_told(tmp_path):
    (device,) = gpus(tmp_path, ONE).devices()
    assert (device.model, device.memory_mb, device.free_mb) == ("NVIDIA A100-SXM4-80GB", 81_559, 70_000)
    assert (device.driver, device.cuda) == ("550.54.15", "12.4")
    assert gpus(tmp_path, ONE, TWO).told(["GPU-two"])[0]["uuid"] == "GPU-two"


def test_machine_without_a_driver_has_none(tmp_path):
    bare = Gpus(locks=tmp_path, library=PretendNvml(has_driver=False))
    assert (bare.devices(), bare.count(), bare.free_mb(), bare.told(["GPU-one"])) == ([], 0, [], [])
    with pytest.raises(NoGpu, match="this machine has no GPU"), bare.held(memory_mb=0):
        pass


def test_emptiest_device_is_taken(tmp_path):
    with gpus(tmp_path, TWO, ONE).held(memory_mb=0) as taken:
        assert taken == "GPU-one"


def test_no_two_jobs_on_one_device(tmp_path):
    here, other_worker = gpus(tmp_path, ONE, TWO), gpus(tmp_path, ONE, TWO)
    with here.held(memory_mb=0) as first, other_worker.held(memory_mb=0) as second:
        assert {first, second} == {"GPU-one", "GPU-two"}
        assert here.free_mb() == []
        with pytest.raises(NoGpu, match="in use"), here.held(memory_mb=0):
            pass
    assert here.free_mb() == [70_000, 30_000]


def test_two_jobs_on_one_device_where_allowed(tmp_path):
    here = gpus(tmp_path, ONE, jobs_each=2)
    with here.held(memory_mb=0), here.held(memory_mb=0), pytest.raises(NoGpu), here.held(memory_mb=0):
        pass


def test_memory_is_asked_for_beforehand(tmp_path):
    here = gpus(tmp_path, ONE, TWO)
    with pytest.raises(NoGpu, match="80,000 MB free: the most here is 70,000 MB"), here.held(memory_mb=80_000):
        pass
    with here.held(memory_mb=60_000), pytest.raises(NoGpu, match="in use"), here.held(memory_mb=60_000):
        pass


def test_killed_job_lets_go_of_its_device(tmp_path):
    script = f"""
import os, signal
from pathlib import Path
from annotator.clients.gpu import Gpus
from tests.services.nvml import PretendCard, PretendNvml
with Gpus(locks=Path({str(tmp_path / "locks")!r}), library=PretendNvml([PretendCard("GPU-one", 1)])).held(memory_mb=0):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == -9
    with gpus(tmp_path, ONE).held(memory_mb=0) as taken:
        assert taken == "GPU-one"


def test_job_is_shown_the_files_of_its_device_alone(tmp_path):
    here = gpus(tmp_path, ONE, TWO)
    assert [path.name for path in here.nodes("GPU-two")] == ["nvidia1", "nvidiactl", "nvidia-uvm"]
    with pytest.raises(Refused, match="GPU-three is not on this machine"):
        here.nodes("GPU-three")


def test_library_is_closed_again(tmp_path):
    here = gpus(tmp_path, ONE)
    here.devices()
    here.free_mb()
    assert here.library.started == 0


def test_this_machine_answers_through_the_real_library(tmp_path):
    assert all(device.uuid.startswith("GPU-") for device in Gpus(locks=tmp_path).devices())


@pytest.mark.parametrize("name", [name for name in vars(PretendNvml) if name.startswith("nvml")])
def test_pretend_library_has_the_calls_of_the_real_one(name):
    real = list(inspect.signature(getattr(pynvml, name)).parameters)
    pretend = list(inspect.signature(getattr(PretendNvml(), name)).parameters)
    assert pretend == real


def test_pretend_library_errs_as_the_real_one_does():
    assert issubclass(pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError)
    with pytest.raises(PretendNvml.NVMLError):
        PretendNvml().nvmlDeviceGetCount()
    with pytest.raises(pynvml.NVMLError):
        pynvml.nvmlDeviceGetCount()


def test_without_a_driver_there_is_no_gpu_and_no_binding_is_loaded(monkeypatch, tmp_path):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr(gpu.ctypes, "CDLL", absent)
    assert gpu.nvml() is None
    assert gpu.Gpus(locks=tmp_path).devices() == []
