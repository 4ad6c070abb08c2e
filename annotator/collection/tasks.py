"""Background work on what is collected."""

from celery import shared_task

from annotator.collection import asking, comparing, working
from annotator.web.wake import wake_each

HARVEST = "annotator.collection.tasks.harvest"


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def harvest(harvest_id: int) -> bool:
    """Go on with one harvest; safe when delivered twice."""
    return working.perform(harvest_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> int:
    """Find harvests that wait for nobody but a worker."""
    return wake_each(HARVEST, working.left_waiting(), queue="mining")


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def compare(comparison_id: int) -> bool:
    """Look for near-duplicates once; safe when delivered twice."""
    return comparing.perform(comparison_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep_comparisons() -> int:
    """Find comparisons that nobody was woken for."""
    return wake_each("annotator.collection.tasks.compare", comparing.left_waiting())


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def refresh() -> int:
    """Look again at the harvests whose day has come."""
    return wake_each(HARVEST, asking.look_again_where_due(), queue="mining")
