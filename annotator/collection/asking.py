"""Harvests as people ask for them: started, looked through again, and again by the clock."""

import datetime as dt

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.collection.access import hosts
from annotator.collection.actions import renew, start_harvest, tell, turn
from annotator.collection.models import Harvest
from annotator.collection.queries import same_harvest
from annotator.collection.wanted import Wanted
from annotator.studies.models import Study
from annotator.web.errors import BadInput

LONGEST_DAYS = 366


@transaction.atomic
def ask(*, study: Study, wanted: Wanted, host: str, by: User, refresh_days: int | None = None) -> Harvest:
    """A harvest that waits for a worker. What was asked already is looked through again there instead."""
    if host not in hosts():
        raise BadInput(f"“{host[:100]}” is no host that this server may ask. The administrator sets GITHUB_HOSTS.")
    Study.objects.select_for_update().get(pk=study.pk)  # sent twice at once, it is asked once
    if same := same_harvest(study, wanted, host):
        raise BadInput(f"Harvest {same.number} asks for exactly this: look again there, or resume it.")
    harvest = start_harvest(study=study, wanted=wanted, by=by, host=host)
    if refresh_days is not None:
        schedule(harvest=harvest, days=refresh_days, by=by)
    return harvest


@transaction.atomic
def look_again(*, harvest: Harvest, by: User | None) -> None:
    """At what is new and what was edited. What is held stays as it was found."""
    turn(harvest, to=Harvest.State.WAITING, out_of=("done",))
    renew(harvest, now=timezone.now())
    tell("looked again at a harvest", harvest, by=by)


@transaction.atomic
def schedule(*, harvest: Harvest, days: int | None, by: User) -> None:
    """Look again so many days after the last time; never by itself where there is no number."""
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise BadInput(f"Look again after 1 to {LONGEST_DAYS} days, or leave it empty: then never by itself.")
    if days == harvest.refresh_days:
        return
    old, harvest.refresh_days = harvest.refresh_days, days
    harvest.save(update_fields=["refresh_days"])
    tell("scheduled a harvest", harvest, by=by, old={"days": old}, new={"days": days})


def look_again_where_due() -> list[int]:
    """What the clock calls for: harvests that are over, and due."""
    now, found = timezone.now(), []
    over = Harvest.objects.filter(state=Harvest.State.DONE, refresh_days__isnull=False, looked_at__isnull=False)
    for harvest in over.order_by("pk"):
        if harvest.looked_at and harvest.looked_at + dt.timedelta(days=harvest.refresh_days or 0) <= now:
            look_again(harvest=harvest, by=None)
            found.append(harvest.pk)
    return found
