"""Background work of the analysis."""

from celery import shared_task

from annotator.analysis import auditing, drawing
from annotator.web.wake import wake_each

DRAW = "annotator.analysis.tasks.draw"


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def draw(drawing_id: int) -> bool:
    """Draw one figure where its numbers have changed; safe when delivered twice."""
    return drawing.perform(drawing_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> int:
    """Find figures that nobody was woken for."""
    return wake_each(DRAW, drawing.left_waiting())


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def audit(audit_id: int) -> bool:
    """Look for labels to doubt, once; safe when delivered twice."""
    return auditing.perform(audit_id)


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep_audits() -> int:
    """Find label audits that nobody was woken for."""
    return wake_each("annotator.analysis.tasks.audit", auditing.left_waiting())
