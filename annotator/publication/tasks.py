"""Background work of publication."""

from celery import shared_task

from annotator.publication import compared, running
from annotator.web.wake import wake_each


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def release(release_id: int) -> bool:
    """Make one release; safe when delivered twice."""
    return running.perform(release_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> int:
    """Find releases that nobody was woken for."""
    return wake_each("annotator.publication.tasks.release", running.left_waiting())


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def compare(since_id: int, release_id: int) -> bool:
    """Compare two releases and keep what is another; compared twice it is the same."""
    return compared.compare(since_id, release_id)
