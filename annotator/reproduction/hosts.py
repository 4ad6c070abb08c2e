"""Machines that run a study's recipes: added with a key that opens the runner's routes alone, removed, their runs void."""

import re

from django.db import transaction
from django.utils import timezone

from annotator.accounts.actions import LONGEST_DAYS, make_token, revoke_token
from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.reproduction.leases import lose
from annotator.reproduction.models import Host, Run
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
SCOPE = "runner"


@transaction.atomic
def add_host(*, study: Study, name: str, by: User, days: int = LONGEST_DAYS) -> tuple[Host, str]:
    """The host and its key, which is shown this once."""
    name = name.strip()
    if not NAME.fullmatch(name):
        raise BadInput("A host's name has small letters, digits and dashes, such as gpu-2.")
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if Host.objects.present().filter(study=study, name=name).exists():
        raise BadInput(f"There is a host {name} already. Remove it first, or choose another name.")
    token, secret = make_token(user=by, name=f"host {name}", scopes=[SCOPE], days=days)
    host = Host.objects.create(study=study, name=name, token=token, added_by=by)
    _tell("added a host", host, by=by)
    return host, secret


@transaction.atomic
def remove_host(*, host: Host, by: User) -> None:
    """Its key ends at once, and what it has in hand is for others."""
    host = Host.objects.select_for_update(of=("self",)).select_related("token").get(pk=host.pk)
    if host.removed_at:
        raise Refused("The host was removed already.")
    revoke_token(token=host.token, by=by)
    host.removed_at = timezone.now()
    host.save(update_fields=["removed_at"])
    _take_back(host, said=f"The host {host.name} was removed.")
    _tell("removed a host", host, by=by)


@transaction.atomic
def void_runs(*, host: Host, why: str, by: User) -> int:
    """Nothing that the host ran counts any longer; the runs stay to be read. How many that were."""
    why = " ".join(why.split())
    if not why or len(why) > 4000:
        raise BadInput("Say why the host's runs are void, in at most 4,000 characters.")
    _take_back(host, said=f"The runs of the host {host.name} are void.")
    ended = Run.objects.filter(host=host, state=Run.State.ENDED, voided_at=None)
    count = ended.order_by().update(voided_at=timezone.now())
    _tell("declared a host's runs void", host, by=by, new={"runs": count}, why=why)
    return count


def _take_back(host: Host, *, said: str) -> None:
    for pk in Run.objects.filter(host=host, state=Run.State.RUNNING).order_by("pk").values_list("pk", flat=True):
        lose(pk, said=said, at_once=True)


def _tell(verb: str, host: Host, *, by: User, new: object = None, why: str = "") -> None:
    record(verb, by=by, kind="host", object_id=host.pk, label=host.name, study_id=host.study_id, new=new, why=why)
