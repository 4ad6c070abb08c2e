"""A run in this machine's worker: claimed once however often it is delivered."""

import logging
import threading
import time
from functools import lru_cache

from django.conf import settings

from annotator.reproduction import leases, queries
from annotator.reproduction.ledger import Result
from annotator.reproduction.matching import Against, Can, Needs, against
from annotator.reproduction.models import Host, Run
from annotator.reproduction.rows import Rows
from annotator.reproduction.running import carry_out
from annotator.reproduction.workshop import KEPT_MB, SWEEP_EVERY, Workshop, workshop

logger = logging.getLogger(__name__)
TIDY_EVERY = 3600.0
_free = threading.BoundedSemaphore(max(1, settings.RUNS_AT_ONCE))


@lru_cache(maxsize=1)
def here() -> Workshop:
    return workshop(settings.VAR_DIR / "environments", runners=tuple(settings.RUNNERS))


def perform(run_id: int, place: Workshop | None = None) -> bool:
    """Carry the run out if it waits and this machine can; False where it is left to others or for later, or over.

    A run may take hours, so a worker of threads keeps the others for what else there is to do.
    """
    if not _free.acquire(blocking=False):
        return False
    try:
        return _perform(run_id, place or here())
    finally:
        _free.release()


def _perform(run_id: int, place: Workshop) -> bool:
    run = Run.objects.filter(pk=run_id, state=Run.State.WAITING).select_related("series__recipe").first()
    if run is None or not leases.is_due(run):
        return False
    needs = Needs(**run.needs)
    reason = against(needs, place.can(needs))
    if reason and is_for_others(run, needs, reason):
        return False
    work = leases.claim(run_id)
    if work is None:
        return False
    if reason:
        leases.end(work, Result(outcome=reason.outcome, said=reason.said))
        return True
    carry_out(work, Rows(), place)
    tidy(place)
    return True


def is_for_others(run: Run, needs: Needs, reason: Against) -> bool:
    """What wants a GPU waits for one; anything else as long as a host is there that can."""
    if reason.outcome == Run.Outcome.NO_GPU:
        return True
    hosts = Host.objects.present().filter(study=run.series.recipe.study_id)
    return any(against(needs, Can.of(host.can)) is None for host in hosts if queries.is_present(host))


class Sweeping(threading.Thread):
    """What a killed worker of this machine left running is ended when the next one starts, and while any other lives."""

    def __init__(self) -> None:
        super().__init__(name="sweeping", daemon=True)
        self.over = threading.Event()

    def run(self) -> None:
        while True:
            try:
                here().sweep()
            except Exception:
                logger.exception("what killed workers left could not be looked for")
            if self.over.wait(SWEEP_EVERY):
                return

    def stop(self) -> None:
        self.over.set()


_tidied = [time.monotonic()]
_tidying = threading.Lock()


def tidy(place: Workshop) -> None:
    """Now and then: environments that were not used for long make room."""
    if time.monotonic() - _tidied[0] < TIDY_EVERY or not _tidying.acquire(blocking=False):
        return
    try:
        _tidied[0] = time.monotonic()
        if removed := place.environments.prune(keep_mb=KEPT_MB):
            logger.info("removed %d environments that were not used for long", len(removed))
    finally:
        _tidying.release()
