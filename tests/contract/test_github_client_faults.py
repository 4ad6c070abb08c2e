"""Faults one by one and all together: a harvest ends complete, or says exactly what is missing."""

import pytest

from annotator.clients.github.errors import Broken, Limited, Unreachable
from annotator.clients.github.graph import TRIES
from tests.contract.github_harvest import EVER, MERGED, Harvest, github
from tests.services.github_server import Clock, Fault, GitHubServer, World
from tests.services.github_server.faults import PASSING
from tests.services.github_server.world import odd, repository


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: f"{fault.kind}-{fault.on}-{fault.times}")
def test_what_passes_costs_nothing_but_time(clock: Clock, fault: Fault) -> None:
    expected = fault.times
    with GitHubServer(World.of(repository(pull_requests=60)), clock=clock) as server:
        server.faults.add(fault)
        harvest = Harvest(github(server, clock), clock).run()
    assert server.faults.struck == [fault.kind] * expected
    assert len(harvest.items) == len(harvest.files) == 60
    assert harvest.unavailable == harvest.broken == {}
    assert (harvest.found, harvest.short) == (60, 0)
    assert server.wrong == server.sent_while_told_to_wait() == []
    assert max(clock.pauses, default=0) <= 3


@pytest.mark.parametrize("reason", [403, 404, 410, 451])
def test_one_thing_that_is_gone_in_the_middle_is_named_and_ends_nothing(clock: Clock, reason: int) -> None:
    with GitHubServer(World.of(repository(pull_requests=30)), clock=clock) as server:
        server.faults.add(Fault(str(reason), on="files", skip=11))
        harvest = Harvest(github(server, clock), clock).run()
    assert list(harvest.unavailable.values()) == [reason]
    assert len(harvest.files) == 29
    assert harvest.numbers == set(range(1, 31))


def test_one_answer_that_never_makes_sense_is_named_and_ends_nothing(clock: Clock) -> None:
    with GitHubServer(World.of(repository(pull_requests=30)), clock=clock) as server:
        server.faults.add(Fault("bad_json", on="files", skip=11, times=3))
        harvest = Harvest(github(server, clock), clock).run()
    assert list(harvest.broken.values()) == ["127.0.0.1 sent what is not JSON"]
    assert len(harvest.files) == 29


def test_a_hit_that_never_comes_is_named(clock: Clock) -> None:
    place = repository(pull_requests=30)
    place.change(17, is_unreadable=True)
    with GitHubServer(World.of(place), clock=clock) as server:
        client = github(server, clock)
        page = client.hits(MERGED, EVER)
        harvest = Harvest(client, clock, with_files=False).run()
    assert [hole.why for hole in page.holes] == ["Something went wrong"]
    assert harvest.numbers == set(range(1, 31)) - {17}
    assert harvest.short == 0
    assert harvest.broken == {17: "frame/wood#17: GitHub says Something went wrong"}
    assert server.wrong == []


def test_an_error_that_stays_is_unreachable_after_three_tries(clock: Clock) -> None:
    with GitHubServer(World.of(repository(pull_requests=3)), clock=clock) as server:
        server.faults.add(Fault("errors", on="graphql", times=9))
        with pytest.raises(Unreachable, match="Something went wrong") as error:
            github(server, clock).hits(MERGED, EVER)
    assert len(server.log) == TRIES
    assert error.value.retry_at > clock()


def test_a_question_against_the_schema_is_refused_once_and_not_repeated(clock: Clock) -> None:
    with GitHubServer(World.of(repository()), clock=clock) as server:
        client = github(server, clock)
        with pytest.raises(Broken, match="Cannot query field 'files_'"):
            client._graph.ask(lambda _size: ("query { viewer { files_ } }", {}), root="viewer", name="wrong")
    assert len(server.log) == 1
    assert server.wrong


def test_a_limit_of_no_length_is_no_endless_loop(clock: Clock) -> None:
    with GitHubServer(World.of(repository()), clock=clock) as server:
        server.faults.add(Fault("secondary", times=99, seconds=0))
        with pytest.raises(Limited) as limited:
            github(server, clock).repository("frame/wood")
    assert len(server.log) == 1
    assert (limited.value.until - clock()).total_seconds() == 1


@pytest.mark.parametrize("seed", range(3))
def test_all_together(clock: Clock, seed: int) -> None:
    place = repository(pull_requests=150, days=20)
    numbers = odd(place, files=230)
    kinds = ("500", "502", "503", "cut", "reset", "bad_json", "errors", "null_node", "half", "incomplete")
    limits = ("primary", "secondary", "secondary_untold", "429")
    with GitHubServer(World.of(place), clock=clock, limits={"core": 90, "search": 6, "graphql": 400}) as server:
        server.faults.at_random(0.2, *map(Fault, kinds), *(Fault(kind, seconds=40) for kind in limits), seed=seed)
        server.faults.by_chance.append(Fault("410", on="files"))
        harvest = Harvest(github(server, clock), clock).run()
    gone = {int(entry.path.split("/")[5]) for entry in server.log if entry.fault == "410"}
    never = {numbers[f"gone_{reason}"] for reason in (404, 410, 451)}
    assert set(harvest.unavailable) == gone | never
    assert len(harvest.items) + harvest.short == harvest.found
    assert harvest.found <= len(place.things)
    assert set(harvest.files) == harvest.numbers - set(harvest.unavailable) - set(harvest.broken)
    assert server.wrong == server.sent_while_told_to_wait() == []
    assert len(set(server.faults.struck)) >= 10
