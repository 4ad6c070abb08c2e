"""Collecting against a server that keeps GitHub's published contract."""

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.apps import apps
from django.core.management import call_command

from annotator.collection import foreground
from annotator.collection.access import Access
from annotator.collection.actions import cancel, pause, resume
from annotator.collection.harvesting import Harvester, Stopped
from annotator.collection.models import Budget, ChangedFile, Comment, Commit, Finding, Harvest, Item, Patch
from annotator.collection.wanted import Wanted
from annotator.history.models import Event
from annotator.web.errors import BadInput, Refused
from tests.factories import ItemFactory, RepositoryFactory
from tests.services.github_server import Clock, Fault, GitHubServer, World
from tests.services.github_server.limits import Limits
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import odd, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))


@pytest.fixture
def place():
    return repository(pull_requests=60)


@pytest.fixture
def server(place, clock) -> Iterator[GitHubServer]:
    with GitHubServer(World.of(place), clock=clock) as server:
        yield server


def access(server: GitHubServer, clock: Clock, *tokens: str) -> Access:
    return Access(server.url, tokens or (TOKEN,), clock=clock, pause=clock.pause)


def collected(study, server, clock, wanted=MERGED, *tokens):
    return foreground.collect(study=study, wanted=wanted, access=access(server, clock, *tokens), wait=clock.move_to)


def rows() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in apps.get_models() if model._meta.managed}


def obeyed(server: GitHubServer) -> bool:
    return not (server.wrong or server.sent_while_told_to_wait() or server.repeated())


def test_sixty_pull_requests_are_stored_whole_at_the_promised_cost(study, server, clock, place):
    result = collected(study, server, clock)
    assert (result["found"], result["fetched"], result["unavailable"], result["capped"]) == (60, 60, [], 0)
    assert result["complete"]
    assert result["requests"]["rest"] == len(server.sent("rest")) <= 1.05 * 60
    assert result["requests"]["graphql"] == len(server.sent("graphql")) <= 0.05 * 60
    assert obeyed(server)
    assert Item.objects.filter(study=study, fetched_at__isnull=False, kind="pull_request").count() == 60
    assert ChangedFile.objects.count() == Patch.objects.count() == 120
    assert Commit.objects.count() == 60
    assert Comment.objects.filter(kind="comment").count() == sum(len(thing.comments) for thing in place.things.values())
    assert Comment.objects.filter(kind="inline").count() == sum(len(thing.inline) for thing in place.things.values())
    item, thing = Item.objects.get(number=12), place.things[12]
    assert (item.identity, item.title, item.text.body) == ("github.com/frame/wood#12", thing.title, thing.body)
    assert (item.merged_at, item.state, item.labels) == (thing.merged.replace(microsecond=0), "merged", ["bug"])
    assert item.repository.github_id == place.id
    assert Event.objects.filter(verb="finished a harvest", study_id=study.pk).count() == 1


def test_run_again_it_makes_no_item_twice_and_asks_little(study, server, clock, place):
    collected(study, server, clock)
    place.change(5, updated=clock(), title="Edited later")
    again = collected(study, server, clock)
    assert (again["found"], again["fetched"], again["complete"]) == (60, 60, True)
    assert sum(again["requests"][kind] for kind in ("rest", "graphql")) <= 0.1 * 60
    assert Item.objects.filter(study=study).count() == 60
    assert Harvest.objects.count() == 1
    assert Finding.objects.exclude(edited_at=None).get().number == 5
    assert Item.objects.get(number=5).title != "Edited later"


def test_run_again_it_takes_what_is_new(study, server, clock, place):
    collected(study, server, clock)
    place.add(replace(place.things[60], number=61, id=place.things[60].id + 1))
    again = collected(study, server, clock)
    assert (again["found"], again["fetched"]) == (61, 61)
    assert sum(again["requests"][kind] for kind in ("rest", "graphql")) <= 0.1 * 60
    assert Item.objects.get(number=61).files.count() == 2


@pytest.mark.parametrize("after", [3, 21, 45, 62])
def test_killed_at_any_point_it_goes_on_without_asking_again(study, server, clock, monkeypatch, after):
    class Killed(BaseException):
        pass

    undisturbed = foreground.run

    def dying(harvester, *, wait):
        step, left = harvester.step, iter(range(after))

        def counted() -> bool:
            if next(left, None) is None:
                raise Killed
            return step()

        harvester.step = counted
        undisturbed(harvester, wait=wait)

    monkeypatch.setattr(foreground, "run", dying)
    with pytest.raises(Killed):
        collected(study, server, clock)
    assert Harvest.objects.get().state == "running"
    monkeypatch.setattr(foreground, "run", undisturbed)
    result = collected(study, server, clock)
    assert (result["found"], result["fetched"], result["complete"]) == (60, 60, True)
    assert obeyed(server)
    assert Item.objects.count() == 60
    assert Patch.objects.count() == 120
    assert len(server.sent("rest")) <= 1.05 * 60


def test_what_a_sheet_brought_is_filled_in_and_not_doubled(study, server, clock, place):
    work = RepositoryFactory(study=study, label="Frame/Wood")
    labelled = RepositoryFactory(study=study, label="framework", host="github.com", owner="frame", name="wood")
    by_number = ItemFactory(
        study=study, repository=work, number=3, identity="github.com/frame/wood#3", url="", title=""
    )
    by_key = ItemFactory(study=study, repository=labelled, number=4, identity="key:F-4", url="", title="Its own title")
    collected(study, server, clock)
    assert Item.objects.filter(study=study).count() == 60
    by_number.refresh_from_db()
    by_key.refresh_from_db()
    assert (by_number.title, by_number.files.count()) == (place.things[3].title, 2)
    assert (by_key.identity, by_key.title, by_key.files.count()) == ("key:F-4", "Its own title", 2)


def test_what_is_gone_is_listed_by_reason_and_stops_nothing(study, clock):
    place = repository(pull_requests=5)
    numbers = odd(place, files=150)
    with GitHubServer(World.of(place), clock=clock) as server:
        result = collected(study, server, clock)
        again = collected(study, server, clock)
    assert obeyed(server)
    assert [(gone["repository"], gone["number"], gone["reason"]) for gone in result["unavailable"]] == [
        ("frame/wood", numbers[f"gone_{reason}"], reason) for reason in (404, 410, 451)
    ]
    assert result["found"] == len(place.things) == result["fetched"] + 3
    assert not result["complete"]
    assert again["unavailable"] == result["unavailable"]
    huge, many = Item.objects.get(number=numbers["huge"]), Item.objects.get(number=numbers["many_comments"])
    assert (huge.files.count(), many.comments.count()) == (150, 230)
    assert Item.objects.get(number=numbers["many_commits"]).commits.count() == 240
    assert ChangedFile.objects.get(path="logo.png").note == "binary"
    assert Item.objects.get(number=numbers["nobody"]).author == ""


def test_many_faults_end_in_the_same_rows(study, server, clock):
    kinds = ("502", "reset", "cut", "bad_json", "errors", "secondary", "secondary_untold", "primary")
    server.faults.at_random(0.15, *(Fault(kind, seconds=30) for kind in kinds))
    result = collected(study, server, clock)
    assert (result["found"], result["fetched"], result["complete"]) == (60, 60, True)
    assert server.sent_while_told_to_wait() == []
    assert len(set(server.faults.struck)) >= 4
    assert Patch.objects.count() == 120


def test_the_limit_takes_the_newest(study, server, clock, place):
    result = collected(study, server, clock, replace(MERGED, limit=7))
    newest = sorted(place.things.values(), key=lambda thing: thing.merged, reverse=True)[:7]
    assert (result["found"], result["fetched"], result["complete"]) == (7, 7, True)
    assert set(Item.objects.values_list("number", flat=True)) == {thing.number for thing in newest}
    again = collected(study, server, clock, replace(MERGED, limit=7))
    assert (again["found"], again["requests"]["rest"]) == (7, 0)


def test_words_are_looked_for_in_title_and_labels(study, server, clock, place):
    result = collected(study, server, clock, replace(MERGED, words=("bug", "leak")))
    wanted = {n for n, thing in place.things.items() if n % 3 == 0 or "leak" in thing.title.lower()}
    assert 0 < len(wanted) < 60
    assert set(Item.objects.values_list("number", flat=True)) == wanted
    assert result["found"] == result["fetched"] == len(wanted)
    assert collected(study, server, clock, replace(MERGED, words=("bug", "leak")))["requests"]["rest"] == 0


def test_issues_are_whole_with_their_page(study, clock):
    with GitHubServer(World.of(repository(issues=40)), clock=clock) as server:
        wanted = replace(MERGED, kind="issue", moment="closed", labels=("type:bug", "silent"))
        result = collected(study, server, clock, wanted)
    assert result["found"] == result["fetched"] == Item.objects.filter(kind="issue").count() == 20
    assert result["requests"]["rest"] <= 2
    assert Comment.objects.count() == 20


def test_a_renamed_repository_makes_no_second_item(study, server, clock, place):
    collected(study, server, clock)
    place.name, place.former = "new/name", ("frame/wood",)
    again = collected(study, server, clock)
    under_new_name = collected(study, server, clock, replace(MERGED, repositories=("new/name",)))
    assert (again["found"], under_new_name["found"], under_new_name["fetched"]) == (60, 60, 60)
    assert Item.objects.count() == 60
    assert Harvest.objects.count() == 2


def test_a_refused_token_is_one_line_without_the_token_and_leaves_no_row(study, server, capsys, monkeypatch, caplog):
    monkeypatch.setenv("GITHUB_API_URL", server.url)
    monkeypatch.setenv("GITHUB_TOKENS", "ghp_wrong_one")
    before = rows()
    with pytest.raises(SystemExit) as ended:
        call_command("collect", study.slug, "--repo", "frame/wood", "--json")
    told = capsys.readouterr()
    assert (ended.value.code, told.out, len(told.err.strip().splitlines())) == (2, "", 1)
    assert "refused the token" in told.err
    assert "ghp_wrong_one" not in told.err
    assert caplog.records == []  # else a line more on the terminal
    assert rows() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere", "--repo", "frame/wood"],
        ["frameworks", "--repo", "frame"],
        ["frameworks", "--repo", "no/where"],
        ["frameworks", "--repo", "frame/wood", "no/where"],
        ["frameworks", "--repo", "frame/wood", "--merged", "2021-01-01"],
        ["frameworks", "--repo", "frame/wood", "--merged", "2021-02-01..2021-01-01"],
        ["frameworks", "--repo", "frame/wood", "--merged", "2021-13-01..2022-01-01"],
        ["frameworks", "--repo", "frame/wood", "--kind", "issue", "--merged", "2021-01-01..2021-02-01"],
        [
            "frameworks",
            "--repo",
            "frame/wood",
            "--closed",
            "2021-01-01..2021-02-01",
            "--merged",
            "2021-01-01..2021-02-01",
        ],
        ["frameworks", "--repo", "frame/wood", "--limit", "0"],
        ["frameworks", "--repo", "frame/wood", "--label", 'a"b'],
    ],
)
def test_bad_input_is_one_line_and_leaves_no_row(study, server, capsys, monkeypatch, arguments):
    monkeypatch.setenv("GITHUB_API_URL", server.url)
    monkeypatch.setenv("GITHUB_TOKENS", TOKEN)
    before = rows()
    with pytest.raises(SystemExit) as ended:
        call_command("collect", *arguments, "--json")
    told = capsys.readouterr()
    assert (ended.value.code, told.out, len(told.err.strip().splitlines())) == (2, "", 1)
    assert rows() == before


def test_the_command_prints_one_document(study, clock, place, capsys, monkeypatch):
    with GitHubServer(World.of(place)) as server:
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        monkeypatch.setenv("GITHUB_TOKENS", TOKEN)
        call_command("collect", study.slug, "--repo", "frame/wood", "--merged", "2021-01-01..2021-01-31", "--json")
        result = json.loads(capsys.readouterr().out)
        assert {"found", "fetched", "unavailable", "capped", "requests", "seconds", "complete"} <= set(result)
        assert (result["found"], result["complete"]) == (60, True)
        call_command("collect", study.slug, "--repo", "frame/wood", "--merged", "2021-01-01..2021-01-31")
        assert "Found 60, fetched 60." in capsys.readouterr().out


def test_a_token_revoked_in_the_middle_keeps_what_there_is(study, server, clock):
    server.faults.add(Fault("revoked", on="files", skip=20))
    with pytest.raises(BadInput, match="refused the token") as refused:
        collected(study, server, clock)
    harvest = Harvest.objects.get()
    assert (harvest.state, Finding.objects.filter(state="fetched").count()) == ("failed", 20)
    assert TOKEN not in str(refused.value) + harvest.message
    server.tokens["another"] = Limits(clock)
    result = collected(study, server, clock, MERGED, "another")
    assert (result["fetched"], result["complete"]) == (60, True)
    assert server.repeated() == []


def test_a_server_that_does_not_answer_pauses_the_harvest(study, server, clock):
    server.faults.add(Fault("502", on="files", times=999, skip=4))
    with pytest.raises(BadInput, match="Run this again later"):
        collected(study, server, clock)
    assert Harvest.objects.get().state == "paused"
    server.faults.waiting.clear()
    assert collected(study, server, clock)["fetched"] == 60
    assert TOKEN not in json.dumps(list(Budget.objects.values()), default=str)


def test_paused_and_cancelled_it_stops_before_it_stores_more(study, server, clock, lee):
    collected(study, server, clock, replace(MERGED, limit=1))
    harvest = Harvest.objects.get()
    with pytest.raises(Refused, match="is done"):
        pause(harvest=harvest, by=lee)
    Harvest.objects.update(state="waiting")
    pause(harvest=harvest, by=lee)
    harvester = Harvester(harvest, access(server, clock).github(), "nobody")
    with pytest.raises(Stopped), harvester.held():
        raise AssertionError("it was paused")
    resume(harvest=harvest, by=lee)
    cancel(harvest=harvest, by=lee)
    with pytest.raises(Refused, match="is cancelled"):
        resume(harvest=harvest, by=lee)
    assert collected(study, server, clock, replace(MERGED, limit=1))["found"] == 1
    assert Harvest.objects.count() == 2


def test_without_a_token_it_says_what_to_give(study, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKENS", " ")
    with pytest.raises(SystemExit):
        call_command("collect", study.slug, "--repo", "frame/wood")
    assert "GITHUB_TOKENS" in capsys.readouterr().err
