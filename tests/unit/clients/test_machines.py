"""What a machine says of itself."""

import json
import sys

from annotator.clients.gpu import Gpus
from annotator.clients.machines import machine
from annotator.clients.sandboxes.job import Refused
from tests.services.nvml import PretendCard, PretendNvml


class Works:
    name = "local"

    def check(self, job):
        pass


class Lacks:
    name = "docker"

    def check(self, job):
        raise Refused("neither docker nor podman is here")


def test_interpreters_cores_memory_gpus_and_sandboxes_with_the_reason_against(tmp_path):
    gpus = Gpus(locks=tmp_path, library=PretendNvml([PretendCard("GPU-one", 70_000)]))
    told = machine(sandboxes={"local": Works(), "docker": Lacks()}, gpus=gpus)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["sandboxes"] == {"local": "", "docker": "neither docker nor podman is here"}
    assert told["gpus"][0]["uuid"] == "GPU-one"
    assert told["cores"] >= 1 and told["memory_mb"] > 256
    minor = f"{sys.version_info.major}.{sys.version_info.minor}."
    assert any(one["version"].startswith(minor) for one in told["interpreters"])
