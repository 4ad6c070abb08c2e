"""What is edited on GitHub after its copy was taken stands beside the copy, which stays as it was."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

import pytest

from annotator.collection.edits import unified
from annotator.collection.models import Edit, Finding, Item
from annotator.collection.wanted import Wanted
from annotator.history.models import Event
from tests.services.collected import state_of
from tests.services.github_server import Fault, GitHubServer, World
from tests.services.github_server.world import File, Label, Review, Turn, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))
THEN = dt.datetime(2021, 2, 3, 4, 5, tzinfo=dt.UTC)
LATER = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


@pytest.fixture
def place():
    place = repository(pull_requests=40)
    place.change(4, comments=(Turn(41, "bob", THEN, "First."), Turn(42, "ada", THEN, "Second.")), reviews=())
    return place


@pytest.fixture
def server(place, clock) -> Iterator[GitHubServer]:
    with GitHubServer(World.of(place), clock=clock) as server:
        yield server


def parts(number: int) -> dict[str, str]:
    """Of the only edit, by part; turns with their author and what became of them."""
    changes = Edit.objects.get(item__number=number).changes
    return {" ".join(filter(None, (one["part"], one.get("author"), one.get("what")))): one["diff"] for one in changes}


def test_where_nothing_changed_a_tenth_of_a_request_an_item_is_enough(collect, study):
    collect()
    before = state_of(study)
    again = collect()
    assert again["requests"]["rest"] + again["requests"]["graphql"] <= 0.1 * 40
    assert not Edit.objects.exists()
    assert state_of(study) == before


def test_an_edit_stands_beside_the_copy_as_diffs(collect, study, place):
    collect()
    before = {name: rows for name, rows in state_of(study).items() if name != "findings"}
    place.change(
        4,
        updated=LATER,
        title="Another title",
        body="One line.\nTwo lines.",
        labels=(Label("bug"), Label("api")),
        comments=(Turn(41, "bob", THEN, "First, corrected."), Turn(43, None, LATER, "Third.")),
    )
    again = collect()
    assert again["requests"]["rest"] + again["requests"]["graphql"] <= 4
    found, item = parts(4), Item.objects.get(number=4)
    assert found["title"] == f"@@ -1 +1 @@\n-{item.title}\n+Another title"
    assert found["description"].endswith("+One line.\n+Two lines.")
    assert found["labels"] == "@@ -0,0 +1,2 @@\n+api\n+bug"
    assert found["comment bob changed"] == "@@ -1 +1 @@\n-First.\n+First, corrected."
    assert found["comment ada removed"] == "@@ -1 +0,0 @@\n-Second."
    assert found["comment added"] == "@@ -0,0 +1 @@\n+Third."
    assert len(found) == 6
    assert {name: rows for name, rows in state_of(study).items() if name != "findings"} == before
    assert Edit.objects.get().edited_at == LATER
    assert Event.objects.get(verb="found later edits").new == {"edits": 1}


def test_an_edit_is_asked_for_once_and_the_next_one_is_kept_beside_it(collect, place):
    collect()
    place.change(4, updated=LATER, title="Another title")
    collect()
    assert collect()["requests"]["graphql"] <= 2
    place.change(4, updated=LATER + dt.timedelta(days=1), title="A third title")
    collect()
    titles = [edit.changes[0]["diff"].splitlines()[-1] for edit in Edit.objects.filter(item__number=4)]
    assert titles == ["+Another title", "+A third title"]


def test_what_touches_nothing_that_is_held_is_no_edit(collect, place):
    collect()
    place.change(4, updated=LATER)
    place.change(5, updated=LATER, body=(place.things[5].body or "").replace("\r\n", "\n"))
    collect()
    assert not Edit.objects.exists()
    assert set(Finding.objects.exclude(edited_at=None).values_list("number", flat=True)) == {4, 5}
    assert collect()["requests"]["rest"] == 0


def test_state_review_and_files_are_compared_too(collect, place, server):
    place.change(6, merged=None, closed=None, reviews=(Review(61, "ada", THEN, "", "APPROVED"),))
    everything = Wanted(("frame/wood",), first=dt.date(2020, 1, 1), last=dt.date(2021, 12, 31))
    collect(everything)
    thing = place.things[6]
    again = replace(thing.commits[0], sha="f" * 40, message="Once more\n\nwith words")
    place.change(
        6,
        updated=LATER,
        merged=LATER,
        closed=LATER,
        commits=(*thing.commits, again),
        files=(
            File("src/a.py", patch="@@ -1 +1 @@\n-old\n+other"),
            File("src/new.py", "added", 3, 0, "@@ -0,0 +1 @@\n+a"),
        ),
        reviews=(Review(61, "ada", THEN, "", "DISMISSED"), Review(62, "bob", LATER, "", "APPROVED")),
    )
    collect(everything)
    found = parts(6)
    assert found["state"] == "@@ -1 +1 @@\n-open\n+merged"
    assert found["commits"].endswith(f"+{'f' * 10} Once more")
    assert "+modified src/a.py +1 −1 · another diff" in found["files"]
    assert "+added src/new.py +3 −0" in found["files"]
    assert found["review ada changed"] == "@@ -1 +1 @@\n-[approved]\n+[dismissed]"
    assert found["review bob added"].endswith("+[approved]")
    assert Item.objects.get(number=6).files.count() == 2
    assert len([entry for entry in server.log if entry.path.endswith("/pulls/6/files")]) == 2


def test_files_that_stayed_cost_nothing(collect, place, server):
    collect()
    place.change(6, updated=LATER, commits=(replace(place.things[6].commits[0], sha="f" * 40),))
    collect()
    assert list(parts(6)) == ["commits"]
    assert [entry.status for entry in server.log if entry.path.endswith("/pulls/6/files")] == [200, 304]


def test_many_edits_of_long_discussions_go_on_through_limits(collect, place, server):
    collect()
    for number in range(1, 41):
        talk = tuple(Turn(number * 1000 + at, "bob", THEN, f"Turn {at}") for at in range(105))
        place.change(number, updated=LATER, comments=talk, reviews=())
    server.faults.add(Fault("primary", on="graphql", skip=5, seconds=600), Fault("secondary", on="graphql", skip=20))
    collect()
    assert Edit.objects.count() == 40
    assert server.sent_while_told_to_wait() == []
    held = len(Edit.objects.get(item__number=5).changes)
    assert held >= 105


def test_a_later_harvest_that_meets_an_edited_item_keeps_the_edit(collect, place):
    collect(replace(MERGED, words=("bug",)))
    place.change(3, updated=LATER, title="Another title")
    collect(replace(MERGED, words=("bug", "crash")))
    assert list(parts(3)) == ["title"]
    collect(replace(MERGED, words=("bug", "crash", "fix")))
    assert Edit.objects.count() == 1


def test_what_is_gone_by_then_keeps_its_copy(collect, place):
    collect()
    place.change(4, updated=LATER, gone=410)
    place.change(5, updated=LATER, title="Another title")
    assert collect()["fetched"] == 40
    assert [edit.item.number for edit in Edit.objects.all()] == [5]


def test_other_line_ends_are_no_difference():
    assert unified("one\r\ntwo", "one\ntwo") == ""
    assert unified("", "one") == "@@ -0,0 +1 @@\n+one"
