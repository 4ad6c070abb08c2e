"""The log of acts is sealed now and then, and a seal shows whether it was touched since."""

import json

import pytest
from django.core.management import call_command

from annotator.history import sealing
from annotator.history.actions import record
from annotator.history.models import Event, Seal
from annotator.history.tasks import seal
from annotator.overview import guards


def began(study, lee, why=""):
    return record("began", by=lee, kind="study", study_id=study.pk, why=why)


@pytest.fixture
def three_seals(study, lee):
    for why in ("for practice", "for good", "again"):
        began(study, lee, why)
        seal()
    began(study, lee)


def verified(capsys):
    call_command("verify_history", "--json")
    return json.loads(capsys.readouterr().out)


def test_a_seal_covers_what_happened_since_the_last(study, lee):
    began(study, lee)
    first = seal()
    assert Seal.objects.get().last_event_id == Event.objects.latest("pk").pk
    began(study, lee)
    second = seal()
    assert [row.digest for row in Seal.objects.order_by("pk")] == [first, second]
    assert Seal.objects.latest("pk").last_event_id == Event.objects.latest("pk").pk


def test_nothing_new_is_not_sealed_again(study, lee):
    began(study, lee)
    seal()
    assert seal() is None
    assert Seal.objects.count() == 1


def test_the_same_acts_after_another_past_have_another_seal(study, lee):
    began(study, lee, "for practice")
    one = seal()
    act = Event.objects.latest("pk").pk
    alone = sealing.digest_of(after=act - 1, last=act, before="")
    assert alone.digest != sealing.digest_of(after=act - 1, last=act, before=one).digest


def test_an_untouched_history_is_found_intact(three_seals, capsys):
    found = verified(capsys)
    assert (found["intact"], found["broken"], found["seals"], found["unsealed"]) == (True, None, 3, 1)
    assert found["sealed"] == Event.objects.count() - 1
    assert found["digest"] == Seal.objects.latest("pk").digest
    call_command("verify_history")
    assert "as it was sealed: 3 seals" in capsys.readouterr().out


def test_a_history_without_seals_is_intact(db, capsys):
    assert verified(capsys) == {
        "intact": True, "seals": 0, "sealed": 0, "unsealed": 0, "digest": "", "broken": None
    }  # fmt: skip


@pytest.mark.parametrize(
    "touch",
    [
        lambda event: Event.objects.filter(pk=event.pk).update(why="for bad"),
        lambda event: Event.objects.filter(pk=event.pk).delete(),
        lambda event: Seal.objects.filter(last_event_id=event.pk).update(digest="0" * 64),
    ],
    ids=["changed", "deleted", "sealed otherwise"],
)
def test_what_was_touched_is_found_at_the_first_seal_that_covers_it(three_seals, capsys, touch):
    event = Event.objects.get(why="for good")
    guards.remove()  # as somebody would who owns the database
    touch(event)
    with pytest.raises(SystemExit) as ended:
        call_command("verify_history", "--json")
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert "seal 2 of" in said.err
    broken = json.loads(said.out)["broken"]
    assert (broken["seal"], broken["last_event"]) == (2, event.pk)
