"""Imports that are started, dropped and left behind."""

import datetime as dt
import threading
import time

import pytest
from django.utils import timezone

from annotator.intake import actions, running
from annotator.intake.mapping import from_document
from annotator.intake.models import Import
from annotator.web.errors import Refused
from tests.together import at_once

SHEET = b"id,alice\nx1,type\nx2,api\n"
MAPPING = {"item": {"key": "id"}, "raters": {"alice": {"cause": "alice"}}}


@pytest.fixture
def checked(study, lee):
    mapping = from_document(MAPPING)
    return actions.upload(study=study, filename="s.csv", data=SHEET, mapping=mapping, by=lee)


def test_an_upload_that_was_dropped_is_not_started(checked, lee):
    actions.discard(row=Import.objects.get(pk=checked.pk), by=lee)
    for act in (actions.start, actions.discard):
        with pytest.raises(Refused, match="dropped meanwhile"):
            act(row=checked, by=lee)


def test_the_page_says_that_it_was_dropped(client, study, checked, lee, monkeypatch):
    client.force_login(lee)
    start = actions.start

    def started_late(*, row, by):
        actions.discard(row=Import.objects.get(pk=row.pk), by=by)
        return start(row=row, by=by)

    monkeypatch.setattr(actions, "start", started_late)
    assert client.post(f"/{study.slug}/import/{checked.number}/start/").status_code == 409


def test_a_killed_worker_is_missed_within_a_minute(checked, lee):
    actions.start(row=checked, by=lee)
    assert running.claim(checked.pk)
    checked.refresh_from_db()
    assert checked.lease_until - timezone.now() <= dt.timedelta(seconds=60)


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_while_it_works(checked, lee, monkeypatch):
    monkeypatch.setattr(running, "RENEWED", 0.05)
    actions.start(row=checked, by=lee)
    seen = []

    def slow(row, owner):
        for _ in range(2):
            Import.objects.filter(pk=row.pk).update(lease_until=timezone.now())
            time.sleep(0.5)
            seen.append(Import.objects.get(pk=row.pk).lease_until > timezone.now())

    monkeypatch.setattr(running, "carry_out", slow)
    before = threading.active_count()
    running.perform(checked.pk)
    assert (seen, threading.active_count()) == ([True, True], before)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_started_and_dropped_at_once_is_one_of_both(checked, lee):
    results = at_once(
        lambda: actions.start(row=checked, by=lee),
        lambda: actions.discard(row=Import.objects.get(pk=checked.pk), by=lee),
    )
    assert [type(result) for result in results if isinstance(result, Exception)] == [Refused]
