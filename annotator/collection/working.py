"""A harvest in a worker: claimed once however often it is delivered, and put back to sleep when GitHub says to wait."""

import datetime as dt
import logging
import secrets
import time

from django.db.models import Q
from django.utils import timezone

from annotator.clients.github.budget import utc_now
from annotator.clients.github.errors import Gone, NotAllowed, Unreachable
from annotator.collection.foreground import Access, access_from_environment
from annotator.collection.harvesting import LEASE, Harvester, Stopped, run
from annotator.collection.models import Harvest
from annotator.web.errors import BadInput

logger = logging.getLogger(__name__)
SHORT = 3  # seconds that a worker sleeps itself


class Asleep(Exception):
    """GitHub says to wait for longer than a worker may sleep."""

    def __init__(self, until: dt.datetime) -> None:
        super().__init__(f"until {until}")
        self.until = until


def ready() -> Q:
    """Waiting and awake, or left behind by a worker that is gone."""
    now = timezone.now()
    awake = Q(state=Harvest.State.WAITING) & (Q(wake_at=None) | Q(wake_at__lte=now))
    return awake | Q(state=Harvest.State.RUNNING, lease_until__lt=now)


def perform(harvest_id: int, access: Access | None = None) -> bool:
    """Go on with the harvest if nobody has it; False where somebody has, or it is over."""
    owner = secrets.token_hex(8)
    claimed = Harvest.objects.filter(ready(), pk=harvest_id).update(
        state=Harvest.State.RUNNING, lease_owner=owner, lease_until=timezone.now() + LEASE, wake_at=None, message=""
    )
    if not claimed:
        return False
    try:
        carry_out(Harvest.objects.select_related("study", "created_by").get(pk=harvest_id), owner, access)
    except Asleep as asleep:
        let_go(harvest_id, owner, Harvest.State.WAITING, "GitHub says to wait.", wake_at=asleep.until)
    except BadInput as problem:
        let_go(harvest_id, owner, Harvest.State.FAILED, str(problem))
    except (NotAllowed, Gone, Unreachable, Stopped) as problem:
        logger.warning("harvest %s stands still: %s", harvest_id, problem)
    except Exception:
        let_go(harvest_id, owner, Harvest.State.FAILED, "It failed for a reason that is in the server's log.")
        raise
    return True


def carry_out(harvest: Harvest, owner: str, access: Access | None) -> None:
    github = (access or access_from_environment()).github()
    try:
        run(Harvester(harvest, github, owner), wait=doze)
    finally:
        github.close()


def doze(until: dt.datetime) -> None:
    seconds = (until - utc_now()).total_seconds()
    if seconds > SHORT:
        raise Asleep(until)
    time.sleep(max(0.0, seconds) + 0.05)


def let_go(harvest_id: int, owner: str, state: str, message: str, *, wake_at: dt.datetime | None = None) -> None:
    mine = Harvest.objects.filter(pk=harvest_id, lease_owner=owner, state=Harvest.State.RUNNING)
    mine.update(state=state, message=message, wake_at=wake_at, lease_owner="", lease_until=None)


def left_waiting() -> list[int]:
    """Harvests that nobody was woken for."""
    return list(Harvest.objects.filter(ready()).order_by("pk").values_list("pk", flat=True))
