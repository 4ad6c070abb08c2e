"""The lease of a run: claimed by a conditional update, renewed, and ended once.

Whoever has a run may die or be cut off, messages may come twice, a result may come late. The row decides: only the lease
of the current attempt renews, writes and ends it.
"""

import datetime as dt
import random
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from annotator.clients.sandboxes.images import is_pinned
from annotator.reproduction.ledger import LONGEST_PIECE, MOST_PIECES, Piece, Result, Used, Work, cut
from annotator.reproduction.matching import Can, Needs, against, has_room
from annotator.reproduction.models import Environment, Host, Log, Run
from annotator.reproduction.recipe_parts import limits
from annotator.reproduction.recipes import digest_of

LEASE = dt.timedelta(seconds=settings.RUN_LEASE)
MOST_ATTEMPTS = 3  # where the runner itself says what went wrong
MOST_LOST = 10  # where workers die, which is seldom the run's doing
PAUSE = dt.timedelta(seconds=20)  # before what failed for a fault of the moment is tried again
LOOKED_AT = 200  # waiting runs that one claim considers
MOST_SEQUENCES = 20_000  # pieces of one attempt's log
MOST_WOKEN = 20
State, Outcome = Run.State, Run.Outcome
PASSING = (Outcome.FAULT, Outcome.LOST, Outcome.NOT_INSTALLED)  # where the runner says that it may pass


# --- claiming


def claim(run_id: int, *, host: Host | None = None) -> Work | None:
    """The run, where this call got it: of many at once, one."""
    lease = secrets.token_hex(16)
    now = timezone.now()
    waiting = Run.objects.filter(pk=run_id, state=State.WAITING)
    row = waiting.only("attempt").first()
    if row is None:
        return None
    got = waiting.filter(attempt=row.attempt).update(
        state=State.RUNNING,
        attempt=row.attempt + 1,
        lease_owner=lease,
        lease_until=now + LEASE,
        host=host,
        started_at=now,
    )
    return _work(Run.objects.select_related("series__recipe").get(pk=run_id), lease) if got else None


def _work(run: Run, lease: str) -> Work:
    recipe, locked = run.series.recipe, _locked_before(run)
    return Work(
        run=run.key,
        lease=lease,
        attempt=run.attempt,
        recipe=recipe.document,
        script=recipe.script,
        environment=run.environment,
        repeat=run.repeat,
        seed=run.seed,
        runner=run.series.runner,
        locked=locked.locked if locked else "",
        python=locked.python if locked else "",
        image=_pinned(locked.image, run) if locked else "",
        lease_seconds=LEASE.total_seconds(),
    )


def _locked_before(run: Run) -> Environment | None:
    """What an earlier run of this version of the recipe was locked to: so that all of them have the same."""
    same = Run.objects.filter(series__recipe=run.series.recipe_id, environment=run.environment, voided_at=None)
    done = same.exclude(locked=None).exclude(locked__locked="", locked__image="").order_by("pk")
    first = done.select_related("locked").first()
    return first.locked if first else None


def _pinned(image: str, run: Run) -> str:
    """What an earlier run tells of its image, where it is the recipe's and by its digest: a host may tell anything."""
    return image if image and is_pinned(image, of=run.needs.get("image", "")) else ""


def claim_next(host: Host, can: Can) -> Work | None:
    """The oldest run of the host's study that it can take; and the host was heard of."""
    Host.objects.filter(pk=host.pk).update(can=can.document(), seen_at=timezone.now())
    for run in waiting_for(host.study_id):
        needs = Needs(**run.needs)
        if against(needs, can) is None and has_room(needs, can) and (work := claim(run.pk, host=host)):
            return work
    return None


def waiting_for(study_id: int) -> Iterator[Run]:
    """Waiting runs of a study, the oldest first, without those that failed just now."""
    rows = Run.objects.filter(state=State.WAITING, series__recipe__study=study_id)
    for run in rows.order_by("pk").only("pk", "needs", "faults")[:LOOKED_AT]:
        if is_due(run):
            yield run


def is_due(run: Run) -> bool:
    """Not within the pause after a fault."""
    if not run.faults:
        return True
    return timezone.now() - dt.datetime.fromisoformat(run.faults[-1]["at"]) >= PAUSE


# --- while it runs


def held(work: Work, host: Host | None = None) -> "QuerySet[Run]":
    """The run, as long as this lease of it is the current one."""
    mine = Run.objects.filter(key=work.run, state=State.RUNNING, attempt=work.attempt, lease_owner=work.lease)
    return mine if host is None else mine.filter(host=host)


def renew(work: Work, host: Host | None = None) -> bool:
    if host is not None:
        Host.objects.filter(pk=host.pk).update(seen_at=timezone.now())
    return bool(held(work, host).update(lease_until=timezone.now() + LEASE))


@transaction.atomic
def write(work: Work, pieces: Sequence[Piece], host: Host | None = None) -> bool:
    """Store pieces of the log, each once however often it comes, until the attempt has written all that it may."""
    run = held(work, host).select_for_update(of=("self",)).select_related("series__recipe").first()
    if run is None:
        return False
    stored = Log.objects.filter(run=run, attempt=work.attempt)
    known = {*stored.filter(sequence__in=[one.sequence for one in pieces]).values_list("sequence", flat=True)}
    new = [
        Log(run=run, attempt=work.attempt, sequence=one.sequence, is_error=one.is_error, text=one.text[:LONGEST_PIECE])
        for one in {one.sequence: one for one in reversed(pieces[:MOST_PIECES])}.values()
        if one.text and 0 <= one.sequence < MOST_SEQUENCES and one.sequence not in known
    ]
    said = stored.aggregate(said=Sum(Length("text")))["said"] or 0
    Log.objects.bulk_create(_within(sorted(new, key=lambda row: row.sequence), said=said, most=_longest_log(run)))
    return True


def _longest_log(run: Run) -> int:
    """Characters: as many as both streams may have bytes, so that what a sandbox let through is never cut."""
    return 2 * 1024 * limits(run.series.recipe.document.get("limits")).output_kb


def _within(rows: Iterable[Log], *, said: int, most: int) -> Iterator[Log]:
    """What still fits; the first that does not is cut and says so, which leaves the log longer than it may be."""
    for row in rows:
        if said > most:
            return
        if said + len(row.text) > most:
            row.text = f"{row.text[: most - said]}\n… cut after {most:,} characters\n"
        said += len(row.text)
        yield row


# --- the end


@transaction.atomic
def end(work: Work, result: Result, host: Host | None = None) -> bool:
    """Take the result of the current attempt, and of no other. What may pass is put back for another attempt."""
    run = held(work, host).select_for_update(of=("self",)).select_related("series__recipe").first()
    if run is None:
        return False
    outcome = result.outcome if result.outcome in Outcome.values else Outcome.FAULT
    if outcome == Outcome.NO_GPU:  # somebody was quicker: it goes on waiting
        _put_back(run)
        return True
    is_passing = result.may_pass and outcome in PASSING
    if is_passing and len(run.faults) + 1 < MOST_ATTEMPTS:
        _put_back(run, faults=[*run.faults, fault_of(run, outcome, result.said)])
        return True
    _store(run, result, outcome)
    return True


def _put_back(run: Run, **more: Any) -> None:
    Run.objects.filter(pk=run.pk).update(state=State.WAITING, lease_owner="", lease_until=None, host=None, **more)


def fault_of(run: Run, outcome: str, said: str) -> dict[str, Any]:
    return {
        "attempt": run.attempt,
        "outcome": outcome,
        "said": said[:2000],
        "host": run.host.name if run.host else "",
        "at": timezone.now().isoformat(),
    }


def _store(run: Run, result: Result, outcome: str) -> None:
    Run.objects.filter(pk=run.pk).update(
        state=State.ENDED,
        lease_owner="",
        lease_until=None,
        ended_at=timezone.now(),
        outcome=outcome,
        said=result.said[:4000],
        exit_code=result.exit_code,
        seconds=result.seconds,
        cpu_seconds=result.cpu_seconds,
        peak_mb=result.peak_mb,
        gpu_peak_mb=result.gpu_peak_mb,
        stdout=cut(result.stdout),
        stderr=cut(result.stderr),
        measures=dict(result.measures),
        installed=dict(result.installed),
        locked=_environment(run, result.used),
        input_digest=result.input_digest[:64],
    )


def _environment(run: Run, used: Used | None) -> Environment | None:
    if used is None:
        return None
    said = {
        "python": used.python[:200],
        "locked": used.locked,
        "image": used.image[:500],
        "variables": dict(used.variables),
        "setup": list(used.setup),
    }
    study_id = run.series.recipe.study_id
    return Environment.objects.get_or_create(study_id=study_id, digest=digest_of(said), defaults=said)[0]


# --- what nobody has


def expire() -> list[Run]:
    """Put back runs whose worker is gone, and end those that lost it too often. What was put back is returned."""
    gone = Run.objects.filter(state=State.RUNNING, lease_until__lt=timezone.now()).order_by("pk")
    return [run for pk in gone.values_list("pk", flat=True)[:LOOKED_AT] if (run := lose(pk))]


@transaction.atomic
def lose(run_id: int, *, said: str = "Its runner was not heard of again.", at_once: bool = False) -> Run | None:
    """The run back in the queue, where its lease is over (or `at_once`); None where it is not, or was the last attempt."""
    running = Run.objects.filter(pk=run_id, state=State.RUNNING)
    if not at_once:
        running = running.filter(lease_until__lt=timezone.now())
    run = running.select_for_update(of=("self",)).select_related("host", "series__recipe").first()
    if run is None:
        return None
    if len(run.faults) + 1 >= MOST_LOST:
        said = f"Tried {MOST_LOST} times. {said}"
        _store(run, Result(outcome=Outcome.LOST, said=said), Outcome.LOST)
        return None
    _put_back(run, faults=[*run.faults, fault_of(run, Outcome.LOST, said)])
    return run


def next_in_line(run_id: int) -> list[Run]:
    """The oldest run that waits in the same queue, if any does."""
    queue = Run.objects.filter(pk=run_id).values("queue")
    waiting = Run.objects.filter(state=State.WAITING, queue__in=queue).order_by("pk").only("pk", "queue", "faults")
    return [run for run in waiting[:LOOKED_AT] if is_due(run)][:1]


def left_waiting() -> list[Run]:
    """Runs that a worker may have to be woken for: the oldest few, and of those that want a GPU one by chance, since
    where no worker has one the messages would pile up.
    """
    asked_before = Q(series__asked_at__lt=timezone.now() - PAUSE)
    waiting = Run.objects.filter(asked_before, state=State.WAITING).order_by("pk").only("pk", "queue", "faults")
    on_cpu = [run for run in waiting.filter(queue=Run.Queue.CPU)[:MOST_WOKEN] if is_due(run)]
    on_gpu = [run for run in waiting.filter(queue=Run.Queue.GPU)[:LOOKED_AT] if is_due(run)]
    return on_cpu + ([random.choice(on_gpu)] if on_gpu else [])  # noqa: S311  # no secret
