"""A harvest that a worker goes on with."""

import datetime as dt

import pytest
from django.utils import timezone

from annotator.collection import working
from annotator.collection.actions import pause, resume, start_harvest
from annotator.collection.foreground import Access
from annotator.collection.models import Finding, Harvest
from annotator.collection.wanted import Wanted
from tests.services.github_server import Fault, GitHubServer, World
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import repository

WANTED = Wanted(("frame/wood",), moment="merged", first=dt.date(2021, 1, 1), last=dt.date(2021, 12, 31))


@pytest.fixture
def server():
    with GitHubServer(World.of(repository(pull_requests=12))) as server:
        yield server


@pytest.fixture
def waiting(study, lee) -> Harvest:
    return start_harvest(study=study, wanted=WANTED, by=lee)


def perform(harvest: Harvest, server: GitHubServer, *tokens: str) -> bool:
    done = working.perform(harvest.pk, Access(server.url, tokens or (TOKEN,)))
    harvest.refresh_from_db()
    return done


def test_a_waiting_harvest_is_done_once_however_often_it_is_delivered(waiting, server):
    assert working.left_waiting() == [waiting.pk]
    assert [perform(waiting, server), perform(waiting, server)] == [True, False]
    assert (waiting.state, Finding.objects.filter(state="fetched").count()) == ("done", 12)
    assert working.left_waiting() == []


def test_told_to_wait_it_sleeps_as_a_row_and_goes_on_later(waiting, server):
    server.faults.add(Fault("secondary", on="files", skip=4, seconds=900))
    assert perform(waiting, server)
    assert (waiting.state, waiting.lease_owner) == ("waiting", "")
    assert waiting.wake_at > timezone.now() + dt.timedelta(minutes=14)
    assert working.left_waiting() == []
    assert not perform(waiting, server)
    assert Finding.objects.filter(state="fetched").count() == 4
    assert server.sent_while_told_to_wait() == []


def test_what_a_live_worker_has_is_left_alone_and_what_a_dead_one_had_is_taken(waiting, server):
    Harvest.objects.update(state="running", lease_owner="x", lease_until=timezone.now() + dt.timedelta(minutes=1))
    assert not perform(waiting, server)
    Harvest.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    assert working.left_waiting() == [waiting.pk]
    assert perform(waiting, server)
    assert waiting.state == "done"


def test_a_refused_token_fails_it_until_it_is_resumed(waiting, server, lee):
    assert perform(waiting, server, "ghp_revoked")
    assert waiting.state == "failed"
    assert "refused the token" in waiting.message
    assert "ghp_revoked" not in waiting.message
    resume(harvest=waiting, by=lee)
    pause(harvest=waiting, by=lee)
    assert not perform(waiting, server)
    resume(harvest=waiting, by=lee)
    assert perform(waiting, server)
    assert waiting.state == "done"


def test_without_a_token_it_says_so(waiting, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKENS", raising=False)
    assert working.perform(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.message[:25]) == ("failed", "There is no GitHub token ")
