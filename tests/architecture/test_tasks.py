"""What the clock calls for, a worker knows."""

import pytest
from django.conf import settings

from annotator.celery import app


@pytest.fixture(scope="module")
def known() -> set[str]:
    app.loader.import_default_modules()
    return set(app.tasks)


@pytest.mark.parametrize("name", sorted(str(entry["task"]) for entry in settings.CELERY_BEAT_SCHEDULE.values()))
def test_a_scheduled_task_is_known_to_the_worker(name, known):
    assert name in known


def test_beat_can_run_inside_the_worker():
    assert "BeatThread" in {step.__name__ for step in app.steps["worker"]}
