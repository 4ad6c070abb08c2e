"""The project's settings, with a clock that finds a dead worker's run within seconds instead of minutes."""

from annotator.settings import *  # noqa: F403
from annotator.settings import CELERY_BEAT_SCHEDULE

RUN_LEASE = 4
CELERY_BEAT_SCHEDULE = {
    name: entry | {"schedule": 1.0} for name, entry in CELERY_BEAT_SCHEDULE.items() if name == "sweep-runs"
}
