"""Near-duplicates: asked for by the lead, found by a worker, shown to everybody, merged by nobody."""

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotator.collection import comparing, near_duplicates
from annotator.collection.models import ChangedFile, Comparison, Item, ItemText, NearDuplicate
from annotator.collection.near_duplicates import components
from annotator.history.models import Event
from annotator.web.errors import BadInput, Refused
from tests.factories import ItemFactory

BODY = "The gradient of cholesky was transposed when the batch held one matrix, so training diverged without a word."


@pytest.fixture
def items(study) -> list[Item]:
    """A fix and its backport, two posts of one report, one of its own."""
    told = [
        ("Fix the gradient of cholesky", BODY),
        ("[release/1.9] Fix the gradient of cholesky", f"{BODY}\n\nBackport of #1000."),
        (
            "Loss is NaN after resuming",
            "Resuming from a checkpoint gives NaN in the first step, with Adam and mixed precision.",
        ),
        (
            "Loss becomes NaN after resuming",
            "Resuming from a checkpoint gives NaN in the first step, with Adam and mixed precision!",
        ),
        ("Document the stride", "Says what a negative stride means."),
    ]
    made = []
    for title, body in told:
        item = ItemFactory(study=study, title=title, fetched_at=timezone.now())
        ItemText.objects.create(item=item, body=body)
        ChangedFile.objects.create(item=item, position=1, path=f"src/{title.split()[-1]}.py")
        made.append(item)
    return made


@pytest.fixture
def compared(study, items, lee) -> Comparison:
    comparison = near_duplicates.ask(study=study, threshold=0.6, by=lee)
    assert comparing.perform(comparison.pk)
    comparison.refresh_from_db()
    return comparison


def pairs(comparison: Comparison) -> set[tuple[int, int]]:
    return set(NearDuplicate.objects.filter(comparison=comparison).values_list("first_id", "second_id"))


def test_a_fix_and_its_backport_are_found_and_nothing_is_merged(compared, items):
    assert (compared.state, compared.items) == ("done", 5)
    assert pairs(compared) == {(items[0].pk, items[1].pk), (items[2].pk, items[3].pk)}
    assert {"cholesky", "gradient"} <= set(NearDuplicate.objects.get(first=items[0]).words)
    assert Item.objects.count() == 5
    assert Event.objects.get(verb="compared items").new == {"items": 5, "pairs": 2, "threshold": 0.6}
    assert list(Event.objects.filter(kind="comparison").order_by("pk").values_list("verb", flat=True)) == [
        "asked for a comparison",
        "compared items",
    ]


def test_delivered_twice_it_is_done_once(compared):
    assert not comparing.perform(compared.pk)
    assert NearDuplicate.objects.count() == 2
    assert comparing.left_waiting() == []


def test_what_a_dead_worker_had_is_taken_up_and_what_a_live_one_has_is_left(study, items, lee):
    comparison = near_duplicates.ask(study=study, threshold=0.6, by=lee)
    assert comparing.left_waiting() == [comparison.pk]
    rows = Comparison.objects.filter(pk=comparison.pk)
    rows.update(state="running", lease_owner="x", lease_until=timezone.now() + dt.timedelta(minutes=1))
    assert not comparing.perform(comparison.pk)
    rows.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    assert comparing.left_waiting() == [comparison.pk]
    assert comparing.perform(comparison.pk)
    assert NearDuplicate.objects.count() == 2


def test_who_lost_the_lease_stores_nothing(study, items, lee, monkeypatch):
    comparison = near_duplicates.ask(study=study, threshold=0.6, by=lee)
    plain = comparing.texts_of

    def overtaken(*arguments):
        Comparison.objects.update(lease_owner="another")
        return plain(*arguments)

    monkeypatch.setattr(comparing, "texts_of", overtaken)
    assert comparing.perform(comparison.pk)
    assert not NearDuplicate.objects.exists()
    assert Comparison.objects.get().state == "running"


def test_a_failure_is_said_and_leaves_nothing(study, items, lee, monkeypatch):
    comparison = near_duplicates.ask(study=study, threshold=0.6, by=lee)

    def broken(*_arguments):
        raise RuntimeError("no memory")

    monkeypatch.setattr(comparing, "texts_of", broken)
    with pytest.raises(RuntimeError):
        comparing.perform(comparison.pk)
    comparison.refresh_from_db()
    assert (comparison.state, comparison.message[:9]) == ("failed", "It failed")
    assert near_duplicates.ask(study=study, threshold=0.6, by=lee).number == 2


def test_one_at_a_time_and_only_where_there_is_something_to_compare(study, lee, items):
    near_duplicates.ask(study=study, threshold=0.6, by=lee)
    with pytest.raises(Refused, match="under way"):
        near_duplicates.ask(study=study, threshold=0.6, by=lee)
    for threshold in (0.0, 1.01, float("nan")):
        with pytest.raises(BadInput, match="similarity"):
            near_duplicates.ask(study=study, threshold=threshold, by=lee)


def test_of_an_empty_study_it_says_what_to_do(study, lee):
    with pytest.raises(Refused, match="collect some"):
        near_duplicates.ask(study=study, threshold=0.6, by=lee)


def test_groups_hold_what_is_alike_through_others():
    together = components([(1, 2), (5, 6), (2, 3), (3, 5), (8, 9)])
    assert together[1] == together[6] == (1, 2, 3, 5, 6)
    assert together[8] == (8, 9)


# --- pages


def page(client, study, user, **query):
    client.force_login(user)
    return client.get(reverse("collection:near_duplicates", args=[study.slug]), query)


def test_the_lead_asks_and_everybody_reads_the_groups(client, study, items, lee, alice, charlie):
    address = reverse("collection:near_duplicates", args=[study.slug])
    assert b"Compare the items" in page(client, study, lee).content
    sent = client.post(address, {"threshold": "0,6"})
    assert (sent.status_code, sent.url) == (302, address)
    assert b"A worker takes it up" in client.get(address).content
    comparing.perform(Comparison.objects.get().pk)
    shown = page(client, study, alice).content.decode()
    assert "2 groups" in shown
    assert "shared: " in shown and "cholesky" in shown
    assert shown.count("[release/1.9] Fix the gradient of cholesky") == 1
    assert "Document the stride" not in shown
    assert all(reverse("collection:item", args=[study.slug, item.identity]) in shown for item in items[:4])
    assert client.post(address, {"threshold": "0.6"}).status_code == 403
    assert page(client, study, charlie).status_code == 404
    assert client.get(reverse("collection:comparison", args=[study.slug, 1])).status_code == 404


def test_a_number_that_is_none_is_refused_in_words(client, study, items, lee):
    client.force_login(lee)
    refused = client.post(reverse("collection:near_duplicates", args=[study.slug]), {"threshold": "much"})
    assert refused.status_code == 400
    assert "such as 0.7" in refused.content.decode()


def test_hostile_texts_are_only_text(client, study, items, lee):
    Item.objects.filter(pk=items[0].pk).update(title="<script>alert(1)</script> Fix the gradient of cholesky")
    ItemText.objects.filter(item=items[0]).update(body=f"<img src=x onerror=alert(1)> {BODY}")
    comparing.perform(near_duplicates.ask(study=study, threshold=0.5, by=lee).pk)
    shown = page(client, study, lee).content.decode()
    assert "&lt;script&gt;" in shown
    assert "<script>alert" not in shown
    assert "<img src=x" not in shown


def test_a_large_group_shows_some_and_counts_the_rest(client, study, lee, django_assert_max_num_queries):
    for number in range(40):
        ItemFactory(study=study, title=f"Bump protobuf from 3.{number} to 3.{number + 1} in requirements")
    for number in range(60):
        ItemFactory(study=study, title=f"Fix kernel{number} overflow{number}", identity=f"key:a{number}", number=None)
        ItemFactory(study=study, title=f"Fix kernel{number} overflow{number}", identity=f"key:b{number}", number=None)
    comparing.perform(near_duplicates.ask(study=study, threshold=0.7, by=lee).pk)
    client.force_login(lee)
    with django_assert_max_num_queries(16):
        first = client.get(reverse("collection:near_duplicates", args=[study.slug])).content.decode()
    assert "61 groups" in first
    assert first.count('class="alike"') == near_duplicates.PAGE
    assert f"?after={near_duplicates.PAGE}" in first
    assert "and 34 more" in first
    assert page(client, study, lee, after=60).content.decode().count('class="alike"') == 1


# --- REST


def test_programs_ask_and_read(study, items, lee, alice, charlie):
    client, base = APIClient(), f"/api/v1/studies/{study.slug}/comparisons/"
    client.force_authenticate(lee)
    assert client.post(base, {"threshold": 2}, format="json").status_code == 400
    made = client.post(base, {"threshold": 0.6}, format="json")
    assert (made.status_code, made.json()["state"], made.json()["number"]) == (202, "waiting", 1)
    assert client.post(base, {}, format="json").status_code == 409
    comparing.perform(Comparison.objects.get().pk)
    client.force_authenticate(alice)
    assert client.get(f"{base}1/").json()["items"] == 5
    assert [row["number"] for row in client.get(base).json()["results"]] == [1]
    found = client.get(f"{base}1/pairs/").json()["results"]
    assert [(row["first"], row["second"]) for row in found] == [
        (items[0].identity, items[1].identity),
        (items[2].identity, items[3].identity),
    ]
    assert client.post(base, {}, format="json").status_code == 403
    client.force_authenticate(charlie)
    assert client.get(f"{base}1/pairs/").status_code == 404
