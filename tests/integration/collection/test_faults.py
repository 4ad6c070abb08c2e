"""Faults one by one and all together: a harvest ends in the rows of an undisturbed one, or says what is missing."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from annotator.clients.github.client import GitHub
from annotator.collection import access as plain
from annotator.collection import foreground
from annotator.collection.models import Finding, Harvest, Item, Repository, Window
from annotator.collection.wanted import Wanted
from annotator.studies.models import Study
from annotator.web.errors import BadInput
from tests.factories import StudyFactory
from tests.services.collected import state_of
from tests.services.github_server import Clock, Fault, GitHubServer, World
from tests.services.github_server.connection import Request
from tests.services.github_server.faults import PASSING
from tests.services.github_server.limits import Limits
from tests.services.github_server.rest import Reply
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import Repository as Place
from tests.services.github_server.world import odd, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))
BURSTS = [Fault("502", on="graphql", times=11), Fault("reset", on="files", times=8), Fault("502", times=12)]


class Access(plain.Access):
    """With pages so small that a dozen pull requests take several."""

    def github(self) -> GitHub:
        made = super().github()
        made.pages.size = made.pages.ceiling = 5
        return made


class Renaming(GitHubServer):
    """The repository is renamed in the middle of it."""

    renamed_at = 0  # requests from now

    def answer(self, request: Request) -> Reply:
        if self.renamed_at and len(self.log) >= self.renamed_at:
            place = self.world.repositories[0]
            place.name, place.former, self.renamed_at = "new/name", ("frame/wood",), 0
        return super().answer(request)


def collected(study: Study, server: GitHubServer, clock: Clock, *tokens: str, wanted: Wanted = MERGED) -> Any:
    access = Access(server.url, tokens or (TOKEN,), clock=clock, pause=clock.pause)
    return foreground.collect(study=study, wanted=wanted, access=access, wait=clock.move_to)


def patiently(study: Study, server: GitHubServer, clock: Clock, *tokens: str) -> Any:
    """The same command again as long as it says that this helps."""
    for _time in range(20):
        try:
            return collected(study, server, clock, *tokens)
        except BadInput as paused:
            if "again" not in str(paused):
                raise
    raise AssertionError("it never came to an end")


def small() -> Place:
    """A dozen pull requests, some of them odd."""
    place = repository(pull_requests=8)
    numbers = odd(place, files=3)
    for name in set(numbers) - {"nul", "nobody", "binary", "undecodable", "many_reviews"}:
        del place.things[numbers[name]]
    return place


STATES: dict[str, Any] = {}


def undisturbed(clock: Clock) -> Any:
    """What a harvest of the small repository leaves; carried out once."""
    if not STATES:
        study = StudyFactory(slug="undisturbed")
        with GitHubServer(World.of(small()), clock=clock) as server:
            collected(study, server, clock)
        STATES.update(state_of(study))
    return STATES


@pytest.fixture
def server(clock) -> Iterator[Renaming]:
    with Renaming(World.of(small()), clock=clock) as server:
        yield server


@pytest.mark.parametrize("fault", PASSING + BURSTS, ids=lambda fault: f"{fault.kind}-{fault.on}-{fault.times}")
def test_what_passes_leaves_no_trace(study, server, clock, fault):
    server.faults.add(fault)
    result = patiently(study, server, clock, TOKEN)
    assert result["complete"]
    assert server.faults.struck == [fault.kind] * fault.times
    assert state_of(study) == undisturbed(clock)
    assert server.wrong == server.sent_while_told_to_wait() == []


@pytest.mark.parametrize("reason", [403, 404, 410, 451])
def test_one_that_is_gone_in_the_middle_is_named_and_ends_nothing(study, server, clock, reason):
    server.faults.add(Fault(str(reason), on="files", skip=6))
    result = collected(study, server, clock)
    assert [gone["reason"] for gone in result["unavailable"]] == [reason]
    assert (result["found"], result["fetched"]) == (len(server.world.repositories[0].things), result["found"] - 1)
    assert not result["complete"]


def test_one_answer_that_never_makes_sense_is_named_and_tried_again_by_the_next_run(study, server, clock):
    server.faults.add(Fault("bad_json", on="files", skip=6, times=3))
    result = collected(study, server, clock)
    assert [gone["reason"] for gone in result["unavailable"]] == ["unreadable"]
    assert collected(study, server, clock)["unavailable"] == []


@pytest.mark.parametrize("after", [2, 4, 7, 15, 30])
def test_a_repository_renamed_in_the_middle_loses_nothing(study, server, clock, after):
    server.renamed_at = after
    result = collected(study, server, clock)
    assert (result["found"], result["unavailable"], result["capped"]) == (
        len(server.world.repositories[0].things),
        [],
        0,
    )
    assert state_of(study) == undisturbed(clock)
    assert Repository.objects.get(study=study).github_id == 900_000_001


@pytest.mark.parametrize("after", [9, 13, 30])
def test_a_repository_that_is_deleted_in_the_middle_ends_nothing_of_the_others(study, clock, after):
    here, gone = repository(pull_requests=5), repository(name="so/long", number=5, pull_requests=40)

    class Deleting(Renaming):
        def answer(self, request: Request) -> Reply:
            if len(self.log) == after:
                self.world.repositories.remove(gone)
            return super().answer(request)

    with Deleting(World.of(here, gone), clock=clock) as server:
        result = collected(study, server, clock, wanted=replace(MERGED, repositories=("so/long", "frame/wood")))
    assert Item.objects.filter(study=study, repository__label="frame/wood", fetched_at__isnull=False).count() == 5
    assert {(gone["repository"], gone["reason"]) for gone in result["unavailable"]} <= {("so/long", 404)}
    assert result["found"] == result["fetched"] + len(result["unavailable"]) < 45
    assert result["partial"] == 1
    assert "so/long: GitHub answers 404" in Harvest.objects.get().message
    assert not result["complete"]


@pytest.mark.parametrize("seed", range(3))
def test_all_together(study, clock, seed):
    """Limits, bursts, broken answers, things gone, half a search, a rename, a token that is refused: in one harvest."""
    place = repository(pull_requests=60, days=20)
    numbers = odd(place, files=230)
    passing = ("500", "502", "503", "cut", "reset", "bad_json", "errors", "null_node", "half", "incomplete")
    limits = ("primary", "secondary", "secondary_untold", "429")
    with Renaming(World.of(place), clock=clock, limits={"core": 90, "search": 6, "graphql": 400}) as server:
        server.renamed_at = 40 + seed
        server.faults.at_random(0.2, *map(Fault, passing), *(Fault(kind, seconds=40) for kind in limits), seed=seed)
        server.faults.by_chance += [Fault("410", on="files"), Fault("451", on="files")]
        first = patiently(study, server, clock, "ghp_revoked", TOKEN)
        struck = len(set(server.faults.struck))
        gone = {
            int(entry.path.split("/")[-2]): int(entry.fault) for entry in server.log if entry.fault in ("410", "451")
        }
        server.faults.rate = 0.0
        again = patiently(study, server, clock, "ghp_revoked", TOKEN)
    never = {numbers[f"gone_{reason}"]: reason for reason in (404, 410, 451)}
    assert {row["number"]: row["reason"] for row in again["unavailable"]} == gone | never
    assert again["found"] == len(place.things) == again["fetched"] + len(again["unavailable"])
    assert again["partial"] == 0
    assert first["found"] <= again["found"]
    assert server.wrong == server.sent_while_told_to_wait() == []
    assert struck >= 11
    assert Window.objects.exclude(state="done").count() == 0
    assert Repository.objects.filter(study=study).count() == 1


def test_an_invalid_token_among_good_ones_is_left_out_and_a_revoked_one_is_one_clear_message(study, server, clock):
    server.faults.add(Fault("revoked", on="files", skip=3))
    with pytest.raises(BadInput, match="refused the token: it is wrong, expired or revoked") as refused:
        collected(study, server, clock, "ghp_invalid", TOKEN)
    assert TOKEN not in str(refused.value)
    assert Harvest.objects.get().state == "failed"
    assert Finding.objects.filter(state="fetched").exists()
    server.tokens["ghp_new"] = Limits(clock)
    assert collected(study, server, clock, "ghp_invalid", "ghp_new")["complete"]
    assert state_of(study) == undisturbed(clock)


def test_five_hundred_pull_requests_cost_what_is_promised_killed_in_the_middle(study, clock, monkeypatch):
    """At most 1.05 REST requests and 0.05 questions each; none refused, none early, none repeated on resuming."""

    class Killed(BaseException):
        pass

    run = foreground.run

    def dying(harvester, *, wait):
        step, left = harvester.step, iter(range(180))

        def counted() -> bool:
            if next(left, None) is None:
                raise Killed
            return step()

        harvester.step = counted
        run(harvester, wait=wait)

    with GitHubServer(World.of(repository(pull_requests=500, days=60)), clock=clock) as server:
        access = plain.Access(server.url, (TOKEN,), clock=clock, pause=clock.pause)
        monkeypatch.setattr(foreground, "run", dying)
        for _time in range(2):
            with pytest.raises(Killed):
                foreground.collect(study=study, wanted=MERGED, access=access, wait=clock.move_to)
        monkeypatch.setattr(foreground, "run", run)
        result = foreground.collect(study=study, wanted=MERGED, access=access, wait=clock.move_to)
    assert (result["found"], result["fetched"], result["complete"]) == (500, 500, True)
    assert len(server.sent("rest")) <= 1.05 * 500
    assert len(server.sent("graphql")) <= 0.05 * 500
    assert server.wrong == server.sent_while_told_to_wait() == server.repeated() == []
    assert max(clock.pauses, default=0) <= 3
