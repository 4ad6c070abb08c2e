"""Stores of environments."""

import pytest

from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.bubblewrap import Bubblewrap


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("environments")


@pytest.fixture
def environments(shared_folder):
    """One store for the tests that only add to it."""
    return Environments(folder=shared_folder, sandbox=Bubblewrap())


@pytest.fixture
def fresh(tmp_path, shared_folder):
    """One of its own, with the packages of the other at hand."""
    (shared_folder / "uv-cache").mkdir(exist_ok=True)
    (tmp_path / "uv-cache").symlink_to(shared_folder / "uv-cache")
    return Environments(folder=tmp_path, sandbox=Bubblewrap())


@pytest.fixture(autouse=True)
def reachable(package_index):
    """Sources of packages are fetched by this process."""
