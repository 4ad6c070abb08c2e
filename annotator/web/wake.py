"""Wakes a worker when a row awaits it. The row is the truth: a lost message is found by beat's next sweep."""

import logging
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from django.db import transaction

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger(__name__)


def wake(task: str, *arguments: int | str, queue: str = "default") -> None:
    """Send `task` once the transaction around the caller is committed; a broker that is down is only logged."""
    transaction.on_commit(lambda: send(task, arguments, queue=queue))


def wake_each(task: str, keys: Collection[int], *, queue: str = "default") -> int:
    """For rows that nobody was woken for; how many they are."""
    for key in keys:
        wake(task, key, queue=queue)
    return len(keys)


def send(task: str, arguments: tuple[int | str, ...], *, queue: str) -> None:
    try:
        sender().send_task(task, args=arguments, queue=queue, retry=False, ignore_result=True)
    except Exception as problem:  # whatever the broker's client raises, the row is stored
        logger.warning("no worker was woken for %s, beat will find the row: %s", task, problem)


@cache
def sender() -> "Celery":
    from celery import Celery  # half a second that commands and tests do without

    app = Celery("sender", set_as_current=False)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    return app
