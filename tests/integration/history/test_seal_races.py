"""What is written while a seal is made."""

import threading

import pytest
from django.db import connection, transaction

from annotator.history.actions import record
from annotator.history.models import Event, Seal
from annotator.history.sealing import verify
from annotator.history.tasks import seal
from tests.together import at_once, while_it_lasts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def act(verb):
    return record(verb, by=None, kind="study")


def test_an_act_that_commits_after_a_later_one_is_sealed_with_it():
    early, _ = while_it_lasts(lambda: act("began first"), lambda: (act("was done first"), seal()))
    assert early.pk < Event.objects.latest("pk").pk
    assert verify().broken is None
    assert (verify().sealed, verify().unsealed) == (2, 0)


def test_who_writes_for_long_is_not_waited_for():
    started, over = threading.Event(), threading.Event()

    def write():
        with transaction.atomic():
            act("takes its time")
            started.set()
            over.wait(10)
        connection.close()

    writing = threading.Thread(target=write)
    writing.start()
    started.wait()
    try:
        assert seal() is None
        assert not Seal.objects.exists()
    finally:
        over.set()
        writing.join()
    assert seal()
    assert verify().broken is None


def test_two_who_seal_at_once_seal_each_act_once():
    act("began")
    at_once(*[seal] * 4)
    assert Seal.objects.count() == 1
