"""A harvest in a worker: claimed once however often it is delivered, and put back to sleep when GitHub says to wait."""

import datetime as dt
import logging
import secrets
import time

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.clients.github.budget import utc_now
from annotator.clients.github.errors import Broken, Gone, NotAllowed, Unreachable
from annotator.collection.access import Access, access_for
from annotator.collection.harvesting import LEASE, Stopped, run
from annotator.collection.models import Fault, Harvest
from annotator.collection.watching import Watched, note
from annotator.web.errors import BadInput

logger = logging.getLogger(__name__)
SHORT = 3  # seconds that a worker sleeps itself
FIRST_PAUSE, LONGEST_PAUSE = dt.timedelta(seconds=30), dt.timedelta(minutes=30)
PATIENCE = 12  # times in a row without an answer: about three hours


class Asleep(Exception):
    """GitHub says to wait for longer than a worker may sleep."""

    def __init__(self, until: dt.datetime) -> None:
        super().__init__(f"until {until}")
        self.until = until


def ready() -> Q:
    """Waiting and awake, or left behind by a worker that is gone."""
    now = timezone.now()
    awake = Q(state=Harvest.State.WAITING) & (Q(wake_at=None) | Q(wake_at__lte=now))
    return awake | left_behind()


def left_behind() -> Q:
    return Q(state=Harvest.State.RUNNING, lease_until__lt=timezone.now())


def claim(harvest_id: int, owner: str) -> Harvest | None:
    """The harvest, where this call got it: a conditional update decides."""
    was_left = Harvest.objects.filter(left_behind(), pk=harvest_id).exists()
    claimed = Harvest.objects.filter(ready(), pk=harvest_id).update(
        state=Harvest.State.RUNNING, lease_owner=owner, lease_until=timezone.now() + LEASE, wake_at=None, message=""
    )
    if not claimed:
        return None
    harvest = Harvest.objects.select_related("study", "created_by").get(pk=harvest_id)
    if was_left:
        note(harvest, Fault.Kind.WORKER, said="its lease ran out, and another took it up")
    return harvest


def perform(harvest_id: int, access: Access | None = None) -> bool:
    """Go on with the harvest if nobody has it; False where somebody has, or it is over."""
    owner = secrets.token_hex(8)
    harvest = claim(harvest_id, owner)
    if harvest is None:
        return False
    try:
        carry_out(harvest, owner, access)
    except Asleep as asleep:
        sleep(harvest_id, owner, asleep.until)
    except (BadInput, NotAllowed, Broken) as problem:
        let_go(harvest_id, owner, Harvest.State.FAILED, sentence(problem))
    except (Gone, Unreachable, Stopped) as problem:
        logger.warning("harvest %s stands still: %s", harvest_id, problem)
    except Exception:
        let_go(harvest_id, owner, Harvest.State.FAILED, "It failed for a reason that is in the server's log.")
        raise
    return True


def carry_out(harvest: Harvest, owner: str, access: Access | None) -> None:
    access = access or access_for(harvest.study, harvest.host)
    github = access.github()
    try:
        run(Watched(harvest, github, owner, access), wait=doze)
    finally:
        github.close()


def doze(until: dt.datetime) -> None:
    seconds = (until - utc_now()).total_seconds()
    if seconds > SHORT:
        raise Asleep(until)
    time.sleep(max(0.0, seconds) + 0.05)


def sleep(harvest_id: int, owner: str, until: dt.datetime) -> None:
    """As a row. The longer GitHub has not answered, the later it is asked again; in the end a person decides."""
    silent = _mine(harvest_id, owner).values_list("silent", flat=True).first() or 0
    if silent > PATIENCE:
        told = f"GitHub has not answered {silent} times in a row. Resume it later: it goes on from where it was."
        _mine(harvest_id, owner).update(silent=0)
        let_go(harvest_id, owner, Harvest.State.PAUSED, told)
    elif silent:
        until = max(until, timezone.now() + min(FIRST_PAUSE * 2 ** (silent - 1), LONGEST_PAUSE))
        let_go(harvest_id, owner, Harvest.State.WAITING, "GitHub does not answer.", wake_at=until)
    else:
        let_go(harvest_id, owner, Harvest.State.WAITING, "GitHub says to wait.", wake_at=until)


def _mine(harvest_id: int, owner: str) -> "QuerySet[Harvest]":
    return Harvest.objects.filter(pk=harvest_id, lease_owner=owner, state=Harvest.State.RUNNING)


def let_go(harvest_id: int, owner: str, state: str, message: str, *, wake_at: dt.datetime | None = None) -> None:
    """Nothing, where it was let go already."""
    _mine(harvest_id, owner).update(
        state=state, message=message[:500], wake_at=wake_at, lease_owner="", lease_until=None
    )


def sentence(problem: Exception) -> str:
    text = str(problem).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def left_waiting() -> list[int]:
    """Harvests that nobody was woken for."""
    return list(Harvest.objects.filter(ready()).order_by("pk").values_list("pk", flat=True))
