"""A rater sees what the pull request closes, at no further cost."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotator.collection.models import ChangedFile, Item, Link, Patch
from annotator.labeling.models import Assignment
from tests.factories import ItemFactory

HTMX = {"hx-request": "true"}


@pytest.fixture
def rater(client, alice):
    client.force_login(alice)
    return client


@pytest.fixture
def turn(main_round, alice) -> Assignment:
    turn = Assignment.objects.filter(round=main_round, rater=alice).order_by("position").first()
    Item.objects.filter(pk=turn.bug.item_id).update(fetched_at=timezone.now())
    return turn


def label(turn: Assignment) -> str:
    return reverse("labeling:bug", args=["frameworks", turn.round.number, turn.bug.number])


def link(turn: Assignment, number: int, **more) -> Link:
    place = {"host": "github.com", "owner": "frame", "name": "wood"}
    return Link.objects.create(item=turn.bug.item, number=number, **(place | {"source": "closing"} | more))


def test_linked_issues_stand_below_the_description(rater, study, turn):
    issue = ItemFactory(study=study, kind="issue", number=12, identity="github.com/frame/wood#12", title="NaN & co.")
    link(turn, 12, target=issue)
    link(turn, 13, source="mention", title="<b>bold</b>")
    shown = rater.get(label(turn)).content.decode()
    assert shown.index("frame/wood#12") < shown.index("frame/wood#13")
    assert "NaN &amp; co." in shown and "&lt;b&gt;" in shown
    assert "https://github.com/frame/wood/issues/12" in shown
    assert reverse("collection:item", args=[study.slug, issue.identity]) in shown
    read = rater.get(f"{label(turn)}read/", headers=HTMX).content.decode()
    assert "frame/wood#12" in read


def test_they_cost_no_query(rater, turn, django_assert_num_queries):
    rater.get(label(turn))  # what later pages keep
    with CaptureQueriesContext(connection) as without:
        rater.get(label(turn))
    for number in range(12, 20):
        link(turn, number)
    with django_assert_num_queries(len(without)):
        assert b"frame/wood#19" in rater.get(label(turn)).content


def test_the_next_bug_brings_its_own(rater, main_round, alice, turn):
    following = Assignment.objects.filter(round=main_round, rater=alice).order_by("position")[1]
    Item.objects.filter(pk=following.bug.item_id).update(fetched_at=timezone.now())
    link(following, 77)
    facets = turn.round.study.codebook.facets
    sent = {f"f-{key}": facets.get(key=key).categories.first().uid for key in ("cause", "stage")}
    sent |= {"act": "submit", "revision": "0"}
    assert b"frame/wood#77" in rater.post(label(turn), sent, headers=HTMX).content


def test_three_thousand_files_are_counted_and_the_first_are_shown(rater, turn):
    files = ChangedFile.objects.bulk_create(
        ChangedFile(item=turn.bug.item, position=place, path=f"gen/{place}.py", additions=1)
        for place in range(1, 1_001)
    )
    Patch.objects.bulk_create(Patch(file=file, text="@@ -0,0 +1 @@\n+a") for file in files)
    shown = rater.get(label(turn)).content.decode()
    assert "1,000 files" in shown
    assert "+1000" in shown
    assert shown.count('<details class="file"') == 300
    assert "700 more files are in the copy" in shown
