"""Background work of reproduction."""

from celery import shared_task

from annotator.reproduction import leases, waking, working


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def run(run_id: int) -> bool:
    """Carry one run out if nobody has it; safe when delivered twice."""
    is_done = working.perform(run_id)
    if is_done:  # whoever was woken meanwhile found this worker busy
        waking.wake_runs(leases.next_in_line(run_id))
    return is_done


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> int:
    """Put back the runs whose worker is gone, and find those that nobody was woken for."""
    back = leases.expire()
    waiting = {one.pk: one for one in [*back, *leases.left_waiting()]}
    waking.wake_runs(waiting.values())
    return len(waiting)
