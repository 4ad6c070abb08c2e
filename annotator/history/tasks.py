"""Sealing the log."""

import logging

from celery import shared_task
from django.db import OperationalError

from annotator.history import sealing

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def seal() -> str | None:
    """Chain a digest over the events since the last seal; None when there are none, or somebody writes for long."""
    try:
        last = sealing.settled_id()
    except OperationalError as busy:
        logger.warning("not sealed this time, the log is being written: %s", busy)
        return None
    return sealing.seal_up_to(last)
