import logging

import pytest

from annotator.web import wake


@pytest.mark.django_db
def test_a_broker_that_is_down_is_logged_and_not_raised(settings, tmp_path, caplog, django_capture_on_commit_callbacks):
    settings.CELERY_BROKER_URL = f"redis+socket://{tmp_path}/nobody.sock"
    wake.sender.cache_clear()
    with caplog.at_level(logging.WARNING), django_capture_on_commit_callbacks(execute=True) as callbacks:
        wake.wake("annotator.history.tasks.seal", 1)
    wake.sender.cache_clear()
    assert len(callbacks) == 1
    assert "no worker was woken for annotator.history.tasks.seal" in caplog.text


@pytest.mark.django_db
def test_nothing_is_sent_before_the_commit(django_capture_on_commit_callbacks, monkeypatch):
    sent = []
    monkeypatch.setattr(wake, "send", lambda task, arguments, queue: sent.append((task, arguments, queue)))
    with django_capture_on_commit_callbacks(execute=False) as callbacks:
        wake.wake("annotator.intake.tasks.run", 7, queue="mining")
    assert sent == []
    for callback in callbacks:
        callback()
    assert sent == [("annotator.intake.tasks.run", (7,), "mining")]
