"""The grown-up set-up: every part, each unprivileged and watched."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILES = sorted((ROOT / "docker").glob("*.Dockerfile"))


def test_every_part_is_a_service():
    assert {"web", "worker", "worker-gpu", "beat", "postgres", "redis"} <= set(COMPOSE["services"])


def test_nothing_is_published_beyond_loopback():
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_only_the_gpu_worker_reserves_a_device():
    assert [name for name, service in COMPOSE["services"].items() if "deploy" in service] == ["worker-gpu"]


@pytest.mark.parametrize("name", sorted(COMPOSE["services"]))
def test_a_service_is_built_from_a_dockerfile_that_is_here_or_pinned(name):
    service = COMPOSE["services"][name]
    if "build" in service:
        assert (ROOT / service["build"]["dockerfile"]).is_file()
    else:
        assert not service["image"].endswith(":latest")
        assert ":" in service["image"]


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_an_image_runs_unprivileged_and_says_how_it_is(file):
    instructions = [line.split(maxsplit=1) for line in file.read_text().splitlines() if line and line[0].isupper()]
    words = [instruction[0] for instruction in instructions]
    assert ["USER", "concord"] in instructions
    assert "HEALTHCHECK" in words
    assert words.index("USER") < words.index("CMD")


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_an_image_copies_only_what_is_there(file):
    copied = [line.split()[1] for line in file.read_text().splitlines() if line.startswith("COPY ")]
    assert all((ROOT / source).exists() for source in copied)
