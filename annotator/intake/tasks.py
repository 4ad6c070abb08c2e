"""Background work of imports."""

from celery import shared_task

from annotator.intake import running
from annotator.web.wake import wake_each


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def run(import_id: int) -> bool:
    """Do one import; safe when delivered twice."""
    return running.perform(import_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> int:
    """Find imports that nobody was woken for."""
    return wake_each("annotator.intake.tasks.run", running.left_waiting())
