"""A bug's page shows the whole thread, however odd what GitHub sent."""

import datetime as dt
import html

import pytest
from django.urls import reverse
from django.utils import timezone

from annotator.collection import foreground
from annotator.collection.access import Access
from annotator.collection.models import ChangedFile, Comment, Commit, Edit, Item, ItemText, Link, Patch
from annotator.collection.wanted import Wanted
from annotator.sampling.models import Bug
from tests.factories import ItemFactory
from tests.services.github_server import Clock, GitHubServer, World
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import odd, repository

MERGED = Wanted(("frame/wood",), moment="merged", first=dt.date(2020, 12, 1), last=dt.date(2021, 12, 31))
PATCH = "@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4"


@pytest.fixture
def bug(study) -> Bug:
    """A pull request with a diff, a talk, a commit."""
    item = ItemFactory(
        study=study,
        number=7,
        identity="github.com/frame/wood#7",
        url="https://github.com/frame/wood/pull/7",
        author="",
        state="merged",
        fetched_at=timezone.now(),
        opened_at=timezone.now(),
    )
    ItemText.objects.create(item=item, body="It was **wrong**.")
    file = ChangedFile.objects.create(
        item=item, position=1, path="src/a b.py", status="modified", additions=2, deletions=1
    )
    Patch.objects.create(file=file, text=PATCH)
    gone = ChangedFile.objects.create(item=item, position=2, path="old.py", status="removed", deletions=1)
    Patch.objects.create(file=gone, text="@@ -1 +0,0 @@\n-x")
    talk = [
        ("comment", "", "Looks right.", "", None, ""),
        ("review", "ada", "", "", None, "approved"),
        ("inline", "bob", "Off by one? <b>&amp;</b>", "src/a b.py", 2, ""),
    ]
    for position, (kind, author, body, path, line, verdict) in enumerate(talk, 1):
        Comment.objects.create(
            item=item, position=position, kind=kind, author=author, body=body, path=path, line=line, verdict=verdict
        )
    Commit.objects.create(item=item, position=1, sha="c" * 40, message="Fix it", author="Ada by Mail")
    return Bug.objects.create(study=study, item=item, number=1)


def link(item: Item, number: int, source: str = "closing", **more) -> Link:
    return Link.objects.create(
        item=item, host="github.com", owner="frame", name="wood", number=number, source=source, **more
    )


def page(client, user, bug: Bug):
    client.force_login(user)
    return client.get(reverse("bugs:bug", args=[bug.study.slug, bug.number]))


def test_reviews_remarks_and_commits_are_there_in_order(client, bug, alice):
    shown = page(client, alice, bug).content.decode()
    assert "opened" in shown and "by a deleted account" in shown
    assert (
        shown.index("Looks right.")
        < shown.index("review: approved")
        < shown.index("Off by one?", shown.index('id="disc"'))
    )
    assert "<b>deleted account</b>" in shown
    assert "Ada by Mail" in shown


def test_a_remark_stands_at_its_line(client, bug, alice):
    shown = page(client, alice, bug).content.decode()
    line, remark = shown.index("<tr id=f1n2"), shown.index('<tr class="said">')
    assert line < remark < shown.index("<tr id=f1n3")
    assert '<a href="#c3">bob</a> Off by one? &amp;' in shown


def test_each_file_leads_to_itself_at_the_last_commit(client, bug, alice):
    shown = page(client, alice, bug).content.decode()
    assert f"https://github.com/frame/wood/blob/{'c' * 40}/src/a%20b.py" in shown
    assert "blob/" + "c" * 40 + "/old.py" not in shown


def test_linked_items_come_with_their_text_where_they_are_held(client, study, bug, alice):
    issue = ItemFactory(
        study=study, kind="issue", number=3, identity="github.com/frame/wood#3", title="NaN after resuming"
    )
    ItemText.objects.create(item=issue, body="It *happens* with Adam.")
    link(bug.item, 3, target=issue, title="as GitHub says it")
    link(bug.item, 4, "keyword", title="<script>alert(1)</script>")
    back = ItemFactory(study=study, number=9, identity="github.com/frame/wood#9", title="Backport")
    link(back, 7, "mention", target=bug.item)
    shown = page(client, alice, bug).content.decode()
    assert "<em>happens</em>" in shown
    assert "NaN after resuming" in shown
    assert reverse("collection:item", args=[study.slug, issue.identity]) in shown
    assert "https://github.com/frame/wood/issues/4" in shown
    assert "&lt;script&gt;" in shown and "<script>alert" not in shown
    assert "mentioned by" in shown and "Backport" in shown
    other = client.get(reverse("collection:item", args=[study.slug, issue.identity])).content.decode()
    assert "closed by" in other and "github.com/frame/wood#7" not in other


def test_later_edits_stand_beside_the_copy(client, bug, alice):
    changes = [
        {"part": "description", "diff": "@@ -1 +1 @@\n-It was **wrong**.\n+It was <i>right</i>."},
        {
            "part": "comment",
            "what": "removed",
            "author": "",
            "at": "2021-02-03T04:05:00+00:00",
            "diff": "@@ -1 +0,0 @@\n-Gone.",
        },
        {"part": "review", "what": "added", "author": "ada", "at": "", "diff": ""},
    ]
    Edit.objects.create(item=bug.item, edited_at=timezone.now(), seen_at=timezone.now(), changes=changes)
    shown = page(client, alice, bug).content.decode()
    assert "<strong>wrong</strong>" in shown
    assert "Edited since" in shown
    assert "&lt;i&gt;" in shown and "<i>right</i>" not in shown
    assert "Comment of deleted account, 2021-02-03: removed" in shown
    assert "Review of ada: added" in shown


def test_an_item_without_copy_links_or_edits_has_no_such_sections(client, study, bugs, alice):
    shown = page(client, alice, bugs[0]).content.decode()
    assert 'id="links"' not in shown
    assert 'id="edits"' not in shown


def test_strangers_see_nothing_of_it(client, bug, charlie):
    assert page(client, charlie, bug).status_code == 404


@pytest.fixture
def collected(study) -> dict[str, Bug]:
    """A bug of every oddity that GitHub holds."""
    clock, place = Clock(), repository(pull_requests=2)
    numbers = odd(place)
    with GitHubServer(World.of(place), clock=clock) as server:
        access = Access(server.url, (TOKEN,), clock=clock, pause=clock.pause)
        foreground.collect(study=study, wanted=MERGED, access=access, wait=clock.move_to)
    items = {item.number: item for item in Item.objects.filter(study=study, fetched_at__isnull=False)}
    made = {}
    for name, number in numbers.items():
        if number in items:
            made[name] = Bug.objects.create(study=study, item=items[number], number=len(made) + 1)
    return made


def test_every_oddity_is_shown(client, study, collected, alice):
    """NUL, CRLF, 65,536 characters, nobody's accounts, a deleted fork, 3,300 files, binary and undecodable diffs."""
    shown = {}
    for name, bug in collected.items():
        answer = page(client, alice, bug)
        assert answer.status_code == 200, name
        shown[name] = html.unescape(answer.content.decode())
    assert "beforeafter" in shown["nul"] and "\x00" not in "".join(shown.values())
    assert "one<br" in shown["crlf"] and "four" in shown["crlf"]
    assert "x" * 65_535 + "é" in shown["long"]
    assert "Fix 🐛 in 🧪" in shown["emoji"]
    assert "half \N{REPLACEMENT CHARACTER} a pair" in shown["surrogate"]
    assert shown["nobody"].count("deleted account") >= 4
    assert "Ada by Mail" in shown["nobody"]
    assert "src/a.py" in shown["deleted_fork"]
    assert "3,000 files" in shown["huge"] and "2,700 more files" in shown["huge"] and "gen/2999.py" in shown["huge"]
    assert shown["binary"].count("The copy holds no diff of this file") == 3
    assert "caf\N{REPLACEMENT CHARACTER}" in shown["undecodable"]
    assert "Turn 229" in shown["many_comments"]
    assert shown["many_reviews"].count('class="cmt"') == 52
    assert "Nobody commented" in shown["no_files"]
    far = reverse("bugs:file", args=[study.slug, collected["huge"].number, 2_950])
    assert client.get(far).status_code == 200
