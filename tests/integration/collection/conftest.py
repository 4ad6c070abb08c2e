"""A GitHub of our own, as the pages and the worker meet it: its address from the environment, tokens from the study."""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from annotator.accounts.models import User
from annotator.collection import foreground
from annotator.collection.access import Access
from annotator.collection.models import Harvest
from annotator.collection.tasks import harvest as harvest_task
from annotator.collection.tokens import store_token
from annotator.collection.wanted import Wanted
from annotator.studies.models import Study
from tests.services.github_server import Clock, GitHubServer, World
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import Repository, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def collect(study: Study, server: GitHubServer, clock: Clock) -> Callable[..., dict[str, Any]]:
    """What the command makes of a query on the test's own server, whose clock it waits by."""

    def collected(wanted: Wanted = MERGED) -> dict[str, Any]:
        access = Access(server.url, (TOKEN,), clock=clock, pause=clock.pause)
        return foreground.collect(study=study, wanted=wanted, access=access, wait=clock.move_to)

    return collected


@pytest.fixture
def work() -> Repository:
    return repository(pull_requests=30, issues=10)


@pytest.fixture
def github(work: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubServer]:
    """GitHub as this server's settings know it; the environment holds no token."""
    for module in ("wire", "graph"):
        monkeypatch.setattr(f"annotator.clients.github.{module}.PAUSES", (0.01, 0.01))
    with GitHubServer(World.of(work)) as server:
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        monkeypatch.delenv("GITHUB_TOKENS", raising=False)
        yield server


@pytest.fixture
def token(study: Study, lee: User, github: GitHubServer) -> str:
    store_token(study=study, host="github.com", name="Lee’s", token=TOKEN, by=lee)
    return TOKEN


@pytest.fixture
def lead(client: Client, lee: User) -> Client:
    client.force_login(lee)
    return client


@pytest.fixture
def carried_out(study: Study) -> Callable[[int], Harvest]:
    """What the worker makes of a harvest of the study."""

    def carry(number: int = 1) -> Harvest:
        harvest_task(Harvest.objects.get(study=study, number=number).pk)
        return Harvest.objects.get(study=study, number=number)

    return carry


def query(**more: Any) -> dict[str, Any]:
    """What the form sends: thirty pull requests, merged in January 2021."""
    asked = {"repositories": "frame/wood", "kind": "pull_request", "moment": "merged", "host": "github.com"}
    return asked | {"first": "2021-01-01", "last": "2021-12-31", "act": "start"} | more
