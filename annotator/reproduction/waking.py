"""Wakes the workers for runs that wait, once the transaction is committed. Hosts ask by themselves."""

from collections.abc import Iterable

from annotator.reproduction.models import Run, Series
from annotator.web.wake import wake

TASK = "annotator.reproduction.tasks.run"


def wake_runs(runs: Iterable[Run]) -> None:
    for run in runs:
        wake(TASK, run.pk, queue=run.queue)


def wake_series(series: Series) -> None:
    wake_runs(Run.objects.filter(series=series, state=Run.State.WAITING).only("pk", "queue"))
