"""The log of acts is sealed now and then."""

from annotator.history.actions import record
from annotator.history.models import Event, Seal
from annotator.history.tasks import seal, seal_events


def test_a_seal_covers_what_happened_since_the_last(study, lee):
    record("began", by=lee, kind="study", study_id=study.pk)
    first = seal()
    assert Seal.objects.get().last_event_id == Event.objects.latest("pk").pk
    record("went on", by=lee, kind="study", study_id=study.pk)
    second = seal()
    assert [row.digest for row in Seal.objects.order_by("pk")] == [first, second]
    assert Seal.objects.latest("pk").last_event_id == Event.objects.latest("pk").pk


def test_nothing_new_is_not_sealed_again(study, lee):
    record("began", by=lee, kind="study", study_id=study.pk)
    seal()
    assert seal() is None
    assert Seal.objects.count() == 1


def test_the_same_acts_after_another_past_have_another_seal(study, lee):
    record("began", by=lee, kind="study", study_id=study.pk, why="for practice")
    one = seal()
    act = Event.objects.latest("pk")
    assert seal_events(after=act.pk - 1, before="") != seal_events(after=act.pk - 1, before=one)
