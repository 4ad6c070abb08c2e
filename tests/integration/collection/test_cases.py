"""Small inputs that broke other miners of GitHub."""

import datetime as dt
from dataclasses import replace

from annotator.collection import foreground
from annotator.collection.models import Comment, Commit, Finding, Harvest, Item, Repository, Window
from annotator.collection.wanted import Wanted
from tests.services.github_server import Fault, GitHubServer, World
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import GitCommit, Review, Turn, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))
DAY = dt.date(2021, 2, 1)


def collected(study, server, clock, wanted=MERGED):
    access = foreground.Access(server.url, (TOKEN,), clock=clock, pause=clock.pause)
    return foreground.collect(study=study, wanted=wanted, access=access, wait=clock.move_to)


def test_case_14_deleted_accounts_and_holes(study, clock):
    """Nobody behind a pull request, review, comment, commit; no body; one deleted, one repository that moved."""
    place = repository(pull_requests=6)
    then = dt.datetime(2021, 1, 3, 12, tzinfo=dt.UTC)
    nobody = Turn(71, None, then, "Written by nobody.", has_no_user_key=True)
    inline = tuple(replace(nobody, id=100 + n, path="src/a.py", line=1) for n in range(31))  # the last comes by REST
    place.change(
        2,
        author=None,
        body=None,
        comments=(nobody,),
        reviews=(Review(72, None, then, "A review.", "APPROVED", inline),),
        commits=(
            GitCommit("a" * 40, "Fix it", "Ada by Mail", None, then),
            GitCommit("b" * 40, "Again", None, None, then),
        ),
        head_repository=None,
    )
    place.change(4, gone=410)
    place.name, place.former = "new/name", ("frame/wood",)
    with GitHubServer(World.of(place), clock=clock) as server:
        result = collected(study, server, clock)
        under_new_name = collected(study, server, clock, replace(MERGED, repositories=("new/name",)))
    assert server.wrong == []
    assert [(gone["number"], gone["reason"]) for gone in result["unavailable"]] == [(4, 410)]
    assert (result["found"], result["fetched"], under_new_name["fetched"]) == (6, 5, 5)
    item = Item.objects.get(study=study, number=2)
    assert (item.author, item.text.body, item.files.count()) == ("", "", 2)
    assert Comment.objects.filter(item=item).count() == 1 + 1 + 31
    assert set(Comment.objects.filter(item=item).values_list("author", flat=True)) == {""}
    assert list(Commit.objects.filter(item=item).values_list("author", flat=True)) == ["Ada by Mail", ""]
    assert Item.objects.filter(study=study, fetched_at__isnull=False).count() == 5
    assert Item.objects.filter(study=study).count() == 6
    assert Repository.objects.get(study=study).github_id == place.id


def test_case_15_search_stops_at_1000(study, clock):
    """2,300 in 90 days, 1,200 on one of them; a partial search once; told to wait in the middle."""
    place = repository(pull_requests=2_300, days=90, busy={DAY: 1_200})
    for number in place.things:
        place.change(number, files=(), reviews=(), comments=())
    with GitHubServer(World.of(place), clock=clock) as server:
        server.faults.add(Fault("incomplete", on="search"), Fault("secondary", on="graphql", skip=9, seconds=30))
        result = collected(study, server, clock)
    assert sorted(server.faults.struck) == ["incomplete", "secondary"]
    assert (result["found"], result["fetched"], result["capped"], result["complete"]) == (2_300, 2_300, 0, True)
    assert Item.objects.filter(study=study).values("number").distinct().count() == 2_300
    assert Finding.objects.filter(harvest__study=study).count() == 2_300
    windows = Window.objects.filter(harvest__study=study)
    assert max(windows.values_list("hits", flat=True)) < 1_000
    assert any(window.ends - window.starts < dt.timedelta(hours=23) for window in windows.filter(hits__gt=0))
    assert server.sent_while_told_to_wait() == []
    held = next(place for place, entry in enumerate(server.log) if entry.fault == "secondary")
    assert server.log[held + 1].at - server.log[held].at == dt.timedelta(seconds=30)


def test_case_15_what_cannot_be_split_is_said(study, clock):
    place = repository(pull_requests=1_020, days=1)
    moment = dt.datetime(2021, 1, 1, 8, tzinfo=dt.UTC)
    for number in place.things:
        place.change(number, merged=moment, closed=moment, files=(), reviews=(), comments=())
    with GitHubServer(World.of(place), clock=clock) as server:
        result = collected(study, server, clock)
    assert (result["capped"], result["found"], result["fetched"], result["complete"]) == (20, 1_000, 1_000, False)
    assert Window.objects.get(harvest=Harvest.objects.get(), is_capped=True).starts == moment
