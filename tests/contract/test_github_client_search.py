"""Search: windows under the cap, nothing twice, nothing lost, and what cannot be had is said."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.clients.github.errors import Broken, Gone
from annotator.clients.github.search import Query, says
from annotator.clients.github.windows import CAP, Count, Window, pieces, split, walk
from tests.contract.github_harvest import EVER, MERGED, Harvest, github
from tests.services.github_server import Clock, Fault, GitHubServer, World
from tests.services.github_server.searching import found
from tests.services.github_server.world import repository

DAY = date(2021, 3, 15)
MOMENTS = st.datetimes(datetime(2018, 1, 1), datetime(2021, 12, 31), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_2300_hits_with_1200_on_one_day_arrive_as_2300(clock: Clock) -> None:
    """Beside it: incomplete_results once, and a secondary limit that names its time in the middle."""
    place = repository(pull_requests=2_300, first=date(2021, 2, 1), days=90, busy={DAY: 1_200})
    with GitHubServer(World.of(place), clock=clock) as server:
        server.faults.add(
            Fault("incomplete", on="search", skip=2), Fault("secondary", on="graphql", skip=9, seconds=37)
        )
        harvest = Harvest(github(server, clock), clock, with_files=False).run()
    assert sorted(server.faults.struck) == ["incomplete", "secondary"]
    assert harvest.numbers == set(range(1, 2_301))
    assert (harvest.found, harvest.capped, harvest.short) == (2_300, 0, 0)
    assert all(settled.count.total < CAP for settled in harvest.windows)
    assert any(settled.window.length < timedelta(days=1) for settled in harvest.windows)
    assert server.wrong == server.sent_while_told_to_wait() == []
    held = next(entry for entry in server.log if entry.fault == "secondary")
    following = server.log[server.log.index(held) + 1]
    assert following.at - held.at == timedelta(seconds=37)


def test_newest_windows_come_first(clock: Clock) -> None:
    place = repository(pull_requests=1_500, days=60)
    with GitHubServer(World.of(place), clock=clock) as server:
        harvest = Harvest(github(server, clock), clock, with_files=False).run()
    starts = [settled.window.start for settled in harvest.windows]
    assert len(starts) > 1
    assert starts == sorted(starts, reverse=True)


def test_what_cannot_be_split_is_said_to_be_capped(clock: Clock) -> None:
    place = repository(pull_requests=1_105)
    for number in place.things:
        place.change(number, merged=datetime(2021, 3, 15, 12, 30, 30, tzinfo=UTC))
    with GitHubServer(World.of(place), clock=clock) as server:
        harvest = Harvest(github(server, clock), clock, with_files=False).run()
    assert (harvest.found, harvest.capped, harvest.short) == (1_105, 105, 0)
    assert len(harvest.items) == CAP
    assert len(harvest.windows) == 1
    assert harvest.windows[0].window.length == timedelta(seconds=1)


def test_a_search_that_stays_incomplete_says_so(clock: Clock) -> None:
    with GitHubServer(World.of(repository(pull_requests=10)), clock=clock) as server:
        server.faults.add(Fault("incomplete", on="search", times=3))
        count = github(server, clock).count(MERGED, EVER)
    assert count == Count(5, is_complete=False)


def test_a_list_that_ends_too_early_is_asked_again(clock: Clock) -> None:
    with GitHubServer(World.of(repository(pull_requests=120)), clock=clock) as server:
        server.faults.add(Fault("half", on="graphql", skip=1))
        harvest = Harvest(github(server, clock), clock, with_files=False).run()
    assert server.faults.struck == ["half"]
    assert len(harvest.items) == 120
    assert harvest.short == 0


def test_a_list_that_always_ends_too_early_is_said_to_be_short(clock: Clock) -> None:
    with GitHubServer(World.of(repository(pull_requests=40)), clock=clock) as server:
        server.faults.add(Fault("half", on="graphql", times=9))
        harvest = Harvest(github(server, clock), clock, with_files=False).run()
    assert len(harvest.items) == 20
    assert harvest.short == 20


def test_a_search_that_github_refuses_is_told_in_its_words(clock: Clock) -> None:
    with GitHubServer(World.of(repository()), clock=clock) as server:
        client = github(server, clock)
        client.repository("frame/wood")
        server.world.repositories.clear()
        with pytest.raises(Broken, match=r"refuses the search \(422\): Validation Failed: .* cannot be searched"):
            client.count(MERGED, EVER)


def test_a_repository_that_is_not_there_is_gone(clock: Clock) -> None:
    with GitHubServer(World.of(repository()), clock=clock) as server, pytest.raises(Gone) as gone:
        github(server, clock).count(replace(MERGED, repository="no/where"), EVER)
    assert (gone.value.reason, gone.value.what) == (404, "no/where")


def test_graphql_counts_where_rest_may_not_search(clock: Clock) -> None:
    with GitHubServer(World.of(repository(pull_requests=1_200)), clock=clock, has_rest_search=False) as server:
        harvest = Harvest(github(server, clock), clock, with_files=False)
        harvest._settle()
    assert harvest.found == 1_200
    assert all(settled.count.total < CAP for settled in harvest.windows)
    assert server.wrong == []


def test_labels_and_authors_narrow_a_search() -> None:
    place = repository(pull_requests=60)
    query = replace(MERGED, labels=("bug",), authors=("alice", "bob")).within(EVER)
    expected = {number for number, thing in place.things.items() if thing.labels and thing.author in ("alice", "bob")}
    assert {thing.number for _place, thing in found(World.of(place), query, is_strict=True)} == expected
    assert expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"repository": "frame"},
        {"repository": "frame/wood repo:other/place"},
        {"kind": "issue", "state": "merged"},
        {"kind": "issue", "moment": "merged"},
        {"labels": ('a" repo:"x',)},
        {"labels": (" ",)},
        {"authors": ("alice is:open",)},
    ],
)
def test_a_query_holds_no_other_query(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"owner/name|merged|label|user name"):
        Query(**{"repository": "frame/wood"} | wrong)


def test_a_window_of_whole_days_is_written_as_days() -> None:
    assert str(Window.of_days(date(2018, 6, 1), date(2021, 10, 31))) == "2018-06-01..2021-10-31"
    first, second = split(Window.of_days(DAY, DAY))
    assert str(first) == "2021-03-15T00:00:00Z..2021-03-15T11:59:59Z"
    assert str(second) == "2021-03-15T12:00:00Z..2021-03-15T23:59:59Z"


@given(MOMENTS, st.timedeltas(timedelta(0), timedelta(days=900)), st.integers(2, 64))
def test_pieces_meet_without_gap_or_overlap(start: datetime, length: timedelta, parts: int) -> None:
    window = Window(start, start + timedelta(seconds=length // timedelta(seconds=1)))
    small = split(window, parts)
    if not small:
        assert window.start == window.end
        return
    assert len(small) >= 2
    assert (small[0].start, small[-1].end) == (window.start, window.end)
    assert all(later.start == earlier.after for earlier, later in pairwise(small))


@given(st.lists(MOMENTS, max_size=300), st.integers(2, 40))
def test_every_hit_is_in_exactly_one_window_and_each_is_small_enough(merged: list[datetime], most: int) -> None:
    def count(window: Window) -> Count:
        return Count(sum(window.start <= moment <= window.end for moment in merged))

    whole = Window.of_days(date(2018, 1, 1), date(2021, 12, 31))
    settled = list(walk(whole, count, at_most=most))
    assert sum(one.count.total for one in settled) == len(merged)
    assert all(one.count.total <= most or one.window.length == timedelta(seconds=1) for one in settled)
    assert [one.window for one in settled] == sorted((one.window for one in settled), reverse=True)


def test_a_small_complete_window_is_not_split() -> None:
    assert pieces(EVER, Count(999)) == ()
    assert pieces(EVER, Count(10, is_complete=False)) != ()


@pytest.mark.parametrize(
    "text", ["Fixes a crash", "[BUG] lost", "Bugfix", "type:bug", "hot-fix", "bug_fix", "Faulty read"]
)
def test_a_word_that_begins_so_is_found(text: str) -> None:
    assert says([text], ["fix", "bug", "fault"])


@pytest.mark.parametrize("text", ["Use the default", "Add a prefix", "debug print", "suffix", ""])
def test_the_inside_of_a_word_is_not(text: str) -> None:
    assert not says([text], ["fix", "bug", "fault"])


def test_without_words_everything_is_meant() -> None:
    assert says([], [])
