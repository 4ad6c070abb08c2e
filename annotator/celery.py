"""The worker's application: finds every stage's tasks; beat can run as a thread in the worker."""

import os
from typing import Any

from celery import Celery, bootsteps
from celery.beat import EmbeddedService
from click import Option

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")


class BeatThread(bootsteps.StartStopStep):
    """Beat inside the worker's process: one process less on a single machine."""

    label = "Beat thread"

    def __init__(self, worker: Any, beat_thread: bool = False, **options: Any) -> None:
        self.enabled = beat_thread
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        return EmbeddedService(worker.app, thread=True, schedule_filename=worker.schedule_filename)


class SweepThread(bootsteps.StartStopStep):
    """Ends what killed workers of this machine left running."""

    label = "Sweep thread"
    requires = {"celery.worker.components:Pool"}  # after it has forked

    def create(self, worker: Any) -> Any:
        from annotator.reproduction.working import Sweeping  # once there are settings

        return Sweeping()


app = Celery("annotator")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.user_options["worker"].add(Option(["--beat-thread"], is_flag=True, help="run beat as a thread of this worker"))
app.steps["worker"].add(BeatThread)
app.steps["worker"].add(SweepThread)
