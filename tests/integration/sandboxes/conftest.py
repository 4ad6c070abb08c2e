"""The sandboxes of this machine, each tried in the same way."""

import os

import pytest

from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.containers import Containers
from tests.services import engine as engines

ENGINE = pytest.param("engine", marks=pytest.mark.xdist_group("engine"))


@pytest.fixture(scope="session")
def engine():
    """A container engine for all tests of one worker."""
    if not engines.program() or (os.geteuid() != 0 and not engines.answers()):
        pytest.skip("needs a container engine: start docker or podman, or let root start one (apt install docker.io)")
    with engines.engine() as told, pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        yield Containers()


@pytest.fixture(params=["groups", "watched", ENGINE])
def sandbox(request):
    """bubblewrap by control groups where the machine has them, by watching as where it has none, and an engine."""
    if request.param == "engine":
        return request.getfixturevalue("engine")
    return Bubblewrap(uses_groups=request.param == "groups")
