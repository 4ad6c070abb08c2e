"""Harvests that are looked through again by the clock."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from annotator.collection.asking import schedule
from annotator.collection.models import Edit, Finding, Harvest, Item
from annotator.collection.tasks import refresh, sweep
from annotator.history.models import Event
from annotator.web.errors import BadInput
from tests.integration.collection.conftest import query

NEW = "/frameworks/harvests/new/"
ONE = "/frameworks/harvests/1/"


@pytest.fixture
def woken(monkeypatch):
    sent = []
    monkeypatch.setattr(
        "annotator.web.wake.send", lambda task, arguments, queue: sent.append((task, *arguments, queue))
    )
    monkeypatch.setattr("annotator.web.wake.transaction.on_commit", lambda run: run())
    return sent


@pytest.fixture
def weekly(lead, study, github, token, carried_out) -> Harvest:
    lead.post(NEW, query(refresh_days="7"))
    return carried_out()


def aged(days: float) -> None:
    Harvest.objects.update(looked_at=timezone.now() - dt.timedelta(days=days))


def test_by_itself_nothing_is_looked_at_again(lead, study, github, token, carried_out, woken):
    lead.post(NEW, query())
    assert carried_out().refresh_days is None
    aged(4000)
    assert (refresh(), Harvest.objects.get().state) == (0, "done")


def test_when_its_day_has_come_it_waits_for_a_worker_again(weekly, study, github, work, woken, carried_out):
    aged(6.9)
    assert refresh() == 0
    aged(7.1)
    assert refresh() == 1
    assert woken == [("annotator.collection.tasks.harvest", weekly.pk, "mining")]
    assert refresh() == 0  # it waits already
    work.add(work.things[30].__class__(**{**vars(work.things[30]), "number": 99, "id": 99_000}))
    before = len(github.log)
    done = carried_out()
    assert (done.state, Item.objects.filter(study=study, number=99).exists()) == ("done", True)
    assert len(github.log) - before <= 5
    assert done.looked_at > timezone.now() - dt.timedelta(minutes=1)
    told = Event.objects.get(verb="looked again at a harvest")
    assert (told.actor_id, told.actor_name) == (None, "")


def test_a_harvest_without_an_end_reaches_until_the_day_it_is_looked_at(lead, study, github, token, work, carried_out):
    lead.post(NEW, query(last="", refresh_days="1"))
    carried_out()
    later = timezone.now() + dt.timedelta(days=2)
    thing = work.things[30]
    work.add(thing.__class__(**{**vars(thing), "number": 99, "id": 99_000, "merged": later - dt.timedelta(hours=1)}))
    with time_machine.travel(later):
        assert refresh() == 1
        assert carried_out().state == "done"
    assert Finding.objects.get(number=99).state == "fetched"


def test_what_is_paused_failed_or_stopped_is_left_alone(weekly, woken):
    aged(100)
    for state in ("paused", "failed", "cancelled", "waiting"):
        Harvest.objects.update(state=state)
        assert refresh() == 0


def test_the_days_are_set_changed_and_taken_away_on_the_page(lead, weekly, lee):
    assert lead.post(ONE + "schedule/", {"days": "30"}).status_code == 302
    assert Harvest.objects.get().refresh_days == 30
    assert lead.post(ONE + "schedule/", {"days": ""}).status_code == 302
    assert Harvest.objects.get().refresh_days is None
    assert lead.post(ONE + "schedule/", {"days": "0"}).status_code == 400
    assert lead.post(ONE + "schedule/", {"days": "x"}).status_code == 400
    told = Event.objects.filter(verb="scheduled a harvest").order_by("pk").values_list("old", "new")
    assert list(told) == [
        ({"days": None}, {"days": 7}),
        ({"days": 7}, {"days": 30}),
        ({"days": 30}, {"days": None}),
    ]
    with pytest.raises(BadInput, match="1 to 366 days"):
        schedule(harvest=Harvest.objects.get(), days=367, by=lee)


def test_a_harvest_that_nobody_was_woken_for_is_found(lead, study, github, token, woken):
    lead.post(NEW, query())
    woken.clear()
    assert sweep() == 1
    assert woken == [("annotator.collection.tasks.harvest", Harvest.objects.get().pk, "mining")]


def test_a_list_of_addresses_is_looked_at_again_for_what_got_no_answer(lead, study, github, token, carried_out):
    lead.post(
        NEW,
        query(repositories="", urls="https://github.com/frame/wood/pull/3\nhttps://github.com/frame/wood/issues/77"),
    )
    carried_out()
    Finding.objects.filter(number=3).update(state="unavailable", reason="no_answer", item=None)
    assert lead.post(ONE + "turn/", {"act": "again"}).status_code == 302
    assert carried_out().state == "done"
    assert dict(Finding.objects.values_list("number", "state")) == {3: "fetched", 77: "unavailable"}


def test_what_was_edited_in_a_list_is_kept_beside_the_copy(lead, study, github, token, work, carried_out):
    listed = "\n".join(f"https://github.com/frame/wood/issues/{number}" for number in work.things)
    work.change(35, updated=timezone.now() - dt.timedelta(days=3))
    for number in range(100, 130):
        work.add(work.things[35].__class__(**{**vars(work.things[35]), "number": number, "id": number}))
        listed += f"\nhttps://github.com/frame/wood/issues/{number}"
    lead.post(NEW, query(repositories="", urls=listed))
    assert carried_out().state == "done"
    work.change(35, body="Edited later.", updated=timezone.now())
    work.change(129, title="Another title", updated=timezone.now())
    before = len(github.log)
    lead.post(ONE + "turn/", {"act": "again"})
    assert carried_out().state == "done"
    assert set(Edit.objects.values_list("item__number", flat=True)) == {35, 129}
    assert Item.objects.get(number=35).text.body != "Edited later."
    assert len(github.log) - before <= 6
    assert github.wrong == []
