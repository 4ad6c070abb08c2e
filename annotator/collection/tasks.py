"""Background work on what is collected."""

from celery import shared_task

from annotator.collection import asking, comparing, working
from annotator.web.wake import wake


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def harvest(harvest_id: int) -> bool:
    """Go on with one harvest; safe when delivered twice."""
    return working.perform(harvest_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> int:
    """Find harvests that wait for nobody but a worker."""
    waiting = working.left_waiting()
    for harvest_id in waiting:
        wake("annotator.collection.tasks.harvest", harvest_id, queue="mining")
    return len(waiting)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def compare(comparison_id: int) -> bool:
    """Look for near-duplicates once; safe when delivered twice."""
    return comparing.perform(comparison_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep_comparisons() -> int:
    """Find comparisons that nobody was woken for."""
    waiting = comparing.left_waiting()
    for comparison_id in waiting:
        wake("annotator.collection.tasks.compare", comparison_id)
    return len(waiting)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def refresh() -> int:
    """Look again at the harvests whose day has come."""
    due = asking.look_again_where_due()
    for harvest_id in due:
        wake("annotator.collection.tasks.harvest", harvest_id, queue="mining")
    return len(due)
