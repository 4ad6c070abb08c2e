"""A harvest from the command line: found again by its query, carried out here and now."""

import datetime as dt
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db import transaction

from annotator.clients.github.budget import utc_now
from annotator.clients.github.client import GitHub
from annotator.clients.github.errors import Broken, GitHubError, Gone, Limited, NotAllowed, Unreachable
from annotator.collection.access import Access, Wait
from annotator.collection.actions import Place, start_harvest
from annotator.collection.harvesting import Stopped, begin, run
from annotator.collection.models import Budget, Harvest
from annotator.collection.placing import open_windows
from annotator.collection.queries import same_harvest, statement_of
from annotator.collection.wanted import Wanted
from annotator.collection.watching import Watched, not_shown
from annotator.studies.models import Study
from annotator.web.errors import BadInput


def collect(*, study: Study, wanted: Wanted, access: Access, wait: Wait) -> dict[str, Any]:
    """The document that the command prints. Run again with the same query, it resumes or refreshes."""
    started = time.monotonic()
    try:
        github = access.github()
    except (NotAllowed, Broken) as problem:
        raise BadInput(f"{problem}.") from None
    try:
        harvest = same_harvest(study, wanted, access.host) or first_harvest(study, wanted, access, github, wait)
        carry_out(harvest, github, access, wait)
    finally:
        github.close()
    return document(harvest, github, seconds=time.monotonic() - started)


def first_harvest(study: Study, wanted: Wanted, access: Access, github: GitHub, wait: Wait) -> Harvest:
    """Stored once GitHub has let us see every repository; otherwise no row is left behind."""
    new = set(access.digests) - set(Budget.objects.values_list("digest", flat=True))
    places: dict[str, Place] = {}
    gone: dict[str, str] = {}
    for name in wanted.repositories:
        try:
            places[name] = place_of(github, name, access.host, wait)
        except GitHubError as problem:
            if isinstance(problem, Gone) and wanted.listed:
                gone[name] = str(problem.reason)
                continue
            Budget.objects.filter(digest__in=new).delete()
            raise BadInput(said(problem)) from None
    with transaction.atomic():
        harvest = start_harvest(study=study, wanted=wanted, by=None, host=access.host)
        open_windows(harvest=harvest, wanted=wanted, places=places, gone=gone, now=access.clock())
    return harvest


def place_of(github: GitHub, name: str, host: str, wait: Wait) -> Place:
    while True:
        try:
            found = github.repository(name)
            break
        except Limited as limited:
            wait(limited.until)
    owner, _, today = found.name.partition("/")
    return Place(found.id, host, owner, today, name)


def said(problem: GitHubError) -> str:
    if isinstance(problem, Gone):
        return not_shown(problem.what, problem.reason)
    if isinstance(problem, Unreachable):
        return f"{problem}. Run this again later; it goes on from where it was."
    return f"{str(problem).rstrip('.')}."


def carry_out(harvest: Harvest, github: GitHub, access: Access, wait: Wait) -> None:
    owner = secrets.token_hex(8)
    begin(harvest, owner=owner)
    try:
        run(Watched(harvest, github, owner, access), wait=wait)
    except Stopped:
        raise BadInput(f"Harvest {harvest.number} was paused, cancelled or taken over by another run.") from None
    except (NotAllowed, Unreachable, Gone) as problem:
        raise BadInput(said(problem)) from None


def document(harvest: Harvest, github: GitHub, *, seconds: float) -> dict[str, Any]:
    statement, used = statement_of(harvest), github.used
    return {
        "found": statement.found,
        "fetched": statement.fetched,
        "unavailable": [_plain(row) for row in statement.unavailable],
        "capped": statement.capped,
        "partial": statement.partial,
        "requests": {"rest": used.rest, "graphql": used.graphql, "points": used.points},
        "seconds": round(seconds, 3),
        "complete": statement.is_complete,
    }


def _plain(row: Any) -> dict[str, Any]:
    values = asdict(row)
    return values | {"reason": int(row.reason) if row.reason.isdigit() else row.reason}


def sleeping(say: Callable[[str], None]) -> Wait:
    """Waits as long as GitHub wants, and says so."""

    def wait(until: dt.datetime) -> None:
        seconds = (until - utc_now()).total_seconds()
        if seconds > 5:
            say(f"Waiting until {until:%H:%M:%S} UTC, as GitHub asks.")
        time.sleep(max(0.0, seconds) + 0.05)

    return wait
