"""Links between items, and repositories that keep their identity through renames."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest
from rest_framework.test import APIClient

from annotator.collection.importing import SheetItem, add_items
from annotator.collection.models import Item, Link, Repository
from annotator.collection.wanted import Wanted
from annotator.sampling.models import Bug
from tests.factories import ItemFactory, RepositoryFactory
from tests.services.github_server import GitHubServer, World
from tests.services.github_server.world import GitCommit, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))
ISSUES = Wanted(("frame/wood",), kind="issue", moment="closed", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))


@pytest.fixture
def place():
    """Pull requests 1 to 6, issues 7 to 10; nothing links yet."""
    place = repository(pull_requests=6, issues=4)
    for number in range(1, 7):
        place.change(number, body="", closes=())
    return place


@pytest.fixture
def other():
    return repository(name="Other/Place", number=2, pull_requests=3)


@pytest.fixture
def server(place, other, clock) -> Iterator[GitHubServer]:
    with GitHubServer(World.of(place, other), clock=clock) as server:
        yield server


def links(number: int) -> list[tuple[str, str, str]]:
    rows = Link.objects.filter(item__number=number, item__kind="pull_request", item__repository__label="frame/wood")
    return [(str(link).lower(), link.source, str(link.target or "").lower()) for link in rows.order_by("number", "pk")]


def test_what_a_pull_request_closes_is_linked_by_its_strongest_word(collect, place):
    place.change(1, closes=(7,), body="Fixes #7, resolves: GH-8 and see #9.\n\n> fixes #2\n\n```\nfixes #3\n```")
    place.change(2, commits=(GitCommit("a" * 40, "Fix it\n\nCloses #10", "Ada", None, place.things[2].created),))
    collect()
    assert links(1) == [
        ("frame/wood#7", "closing", ""),
        ("frame/wood#8", "keyword", ""),
        ("frame/wood#9", "mention", ""),
    ]
    assert Link.objects.get(number=7).title == place.things[7].title
    assert links(2) == [("frame/wood#10", "keyword", "")]
    assert links(3) == []


def test_a_link_leads_to_what_is_held_whichever_came_first(collect, place):
    place.change(1, closes=(7,))
    place.change(2, body="Backport of #1")
    collect()
    assert links(2) == [("frame/wood#1", "mention", "frame/wood#1")]
    assert links(1) == [("frame/wood#7", "closing", "")]
    collect(ISSUES)
    assert links(1) == [("frame/wood#7", "closing", "frame/wood#7")]
    back = Link.objects.get(item__number=7, item__kind="issue")
    assert (str(back), back.source, back.target.number) == ("frame/wood#1", "closing", 1)


def test_a_link_leads_into_another_repository_once_that_is_collected(collect, place):
    place.change(1, body="Fixes other/place#2\nresolves https://github.com/Other/Place/pull/3")
    place.change(2, body="fixes https://example.org/other/place/issues/2")
    collect()
    assert links(1) == [("other/place#2", "keyword", ""), ("other/place#3", "keyword", "")]
    collect(replace(MERGED, repositories=("other/place",)))
    assert links(1) == [
        ("other/place#2", "keyword", "other/place#2"),
        ("other/place#3", "keyword", "other/place#3"),
    ]
    assert Link.objects.get(item__number=2, host="example.org").target is None


def test_a_link_leads_to_an_item_that_a_sheet_brings_later(collect, place, study):
    place.change(1, closes=(7,), body="Closes other/place#9")
    collect()
    row = RepositoryFactory(study=study, label="elsewhere", host="github.com", owner="other", name="place")
    sheet = [
        SheetItem("github.com/frame/wood#7", "issue", number=7),
        SheetItem("key:O-9", "pull_request", row.pk, number=9, key="O-9"),
        SheetItem("key:O-8", "pull_request", row.pk, number=8, key="O-8"),
    ]
    add_items(study=study, rows=sheet)
    targets = Link.objects.filter(item__number=1).order_by("number").values_list("target__identity", flat=True)
    assert list(targets) == ["github.com/frame/wood#7", "key:O-9"]


def test_links_of_a_long_discussion_are_kept_when_it_is_whole(collect, place):
    commits = tuple(
        GitCommit(f"{at:040x}", "Closes #8" if at == 149 else "Work", "Ada", None, place.things[1].created)
        for at in range(150)
    )
    place.change(1, commits=commits, closes=(7,))
    collect()
    assert [name for name, _, _ in links(1)] == ["frame/wood#7", "frame/wood#8"]


def test_a_link_through_a_former_name_is_the_same_link(collect, place, other):
    other.name, other.former = "New/Place", ("Other/Place",)
    collect(replace(MERGED, repositories=("other/place",)))
    place.change(1, body="Fixes other/place#2, fixes new/place#2, fixes https://github.com/new/place/pull/3")
    collect()
    assert [(name, target) for name, _, target in links(1)] == [
        ("new/place#2", "new/place#2"),
        ("new/place#3", "new/place#3"),
    ]


def test_nothing_links_to_itself(collect, place):
    place.change(1, body="Fixes #1, see https://github.com/frame/wood/pull/1")
    collect()
    assert links(1) == []


# --- repositories


def test_a_sheet_that_used_the_old_name_is_filled_in_under_the_new_one(collect, study, server):
    place = server.world.repositories[0]
    place.name, place.former = "new/name", ("frame/wood",)
    row = RepositoryFactory(study=study, label="Frames", host="github.com", owner="Frame", name="wood")
    item = ItemFactory(
        study=study,
        repository=row,
        number=3,
        identity="github.com/frame/wood#3",
        url="https://github.com/frame/wood/pull/3",
    )
    result = collect(replace(MERGED, repositories=("new/name",)))
    item.refresh_from_db()
    assert (result["found"], result["fetched"]) == (6, 6)
    assert item.fetched_at is not None
    assert Item.objects.filter(study=study, number=3).count() == 1
    assert Repository.objects.get(study=study, github_id=place.id) == item.repository
    assert "frames" in item.repository.names or item.repository.label == "Frames"
    assert Repository.objects.filter(study=study).count() == 1


def test_two_names_of_a_sheet_that_are_one_repository_become_one(collect, study, server):
    place = server.world.repositories[0]
    place.name, place.former = "new/name", ("frame/wood",)
    for number, (owner, name) in enumerate((("frame", "wood"), ("new", "name")), 1):
        row = RepositoryFactory(study=study, label=f"{owner}/{name}", host="github.com", owner=owner, name=name)
        ItemFactory(study=study, repository=row, number=number, identity=f"github.com/{owner}/{name}#{number}", url="")
    collect(replace(MERGED, repositories=("new/name",)))
    repository = Repository.objects.get(study=study)
    assert repository.names == ["frame/wood", "new/name"]
    assert Item.objects.filter(study=study).count() == 6
    assert set(Item.objects.filter(study=study).values_list("repository", flat=True)) == {repository.pk}


def test_what_a_sheet_named_and_nobody_finds_stays_as_it_is(collect, study, server):
    row = RepositoryFactory(study=study, label="gone/away", host="github.com", owner="gone", name="away")
    ItemFactory(study=study, repository=row, number=3, identity="github.com/gone/away#3")
    assert collect()["complete"]
    row.refresh_from_db()
    assert row.github_id is None
    assert len([entry for entry in server.log if "gone/away" in entry.path]) == 1
    collect()
    assert len([entry for entry in server.log if "gone/away" in entry.path]) == 1


def test_another_repository_that_takes_the_old_name_is_another(collect, study, server):
    collect()
    place = server.world.repositories[0]
    place.name = "new/name"
    server.world.repositories.append(repository(name="frame/wood", number=77, pull_requests=2, seed=3))
    collect(replace(MERGED, limit=5))
    assert set(Repository.objects.filter(study=study).values_list("label", "github_id")) == {
        ("frame/wood", 900_000_001),
        ("frame/wood (77)", 77),
    }
    assert Item.objects.filter(study=study, repository__github_id=77, fetched_at__isnull=False).count() == 2
    assert Item.objects.filter(study=study).count() == 8


def test_programs_read_links_and_later_edits(collect, place, study, alice):
    place.change(1, closes=(7,))
    collect()
    place.change(1, updated=dt.datetime(2026, 1, 2, tzinfo=dt.UTC), title="Another title")
    collect()
    bug = Bug.objects.create(study=study, item=Item.objects.get(number=1, kind="pull_request"), number=1)
    client = APIClient()
    client.force_authenticate(alice)
    for address in (f"bugs/{bug.number}/", f"items/{quote(bug.item.identity)}/"):
        shown = client.get(f"/api/v1/studies/{study.slug}/{address}").json()
        assert [(link["repository"], link["number"], link["kind"], link["target"]) for link in shown["links"]] == [
            ("frame/wood", 7, "closing", None)
        ]
        assert [change["part"] for change in shown["edits"][0]["changes"]] == ["title"]
