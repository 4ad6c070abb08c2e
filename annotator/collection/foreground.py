"""A harvest from the command line: found again by its query, carried out here and now."""

import datetime as dt
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import environ
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from annotator.clients.github.budget import Clock, utc_now
from annotator.clients.github.client import GitHub
from annotator.clients.github.errors import Broken, GitHubError, Gone, Limited, NotAllowed, Unreachable
from annotator.clients.github.wire import Key, digest
from annotator.collection.actions import Place, repository_at, start_harvest
from annotator.collection.budget import SharedBudget
from annotator.collection.harvesting import Harvester, Stopped, begin, run
from annotator.collection.models import Budget, Harvest
from annotator.collection.queries import statement_of
from annotator.collection.wanted import Wanted, from_document
from annotator.studies.models import Study
from annotator.web.errors import BadInput

GITHUB_API = "https://api.github.com"
Wait = Callable[[dt.datetime], None]


@dataclass(frozen=True)
class Access:
    """Where GitHub's API is, and the tokens for it; they are shown nowhere."""

    url: str
    tokens: tuple[str, ...]
    clock: Clock = utc_now
    pause: Callable[[float], None] = time.sleep

    def __repr__(self) -> str:
        return f"Access({self.url}, {len(self.tokens)} tokens)"

    @property
    def digests(self) -> list[str]:
        return [digest(token) for token in self.tokens]

    @property
    def host(self) -> str:
        """As items name it. An Enterprise server's API is below its own name; any other address stands for GitHub."""
        parts = urlsplit(self.url)
        host = (parts.hostname or "").removeprefix("api.")
        is_own = parts.path.rstrip("/").endswith("/api/v3") or host.endswith(".ghe.com")
        return host if is_own else "github.com"

    def github(self) -> GitHub:
        keys = [
            Key(token, SharedBudget(name, self.clock), name=f"token {place}")
            for place, (token, name) in enumerate(zip(self.tokens, self.digests, strict=True), 1)
        ]
        return GitHub(self.url, keys, clock=self.clock, pause=self.pause)


def access_from_environment() -> Access:
    tokens = tuple(dict.fromkeys(re.split(r"[\s,]+", environ.get("GITHUB_TOKENS", "").strip(" ,\n"))))
    if tokens == ("",):
        raise BadInput("There is no GitHub token: give one or more in GITHUB_TOKENS, separated by commas.")
    return Access(environ.get("GITHUB_API_URL", "").strip() or GITHUB_API, tokens)


def collect(*, study: Study, wanted: Wanted, access: Access, wait: Wait) -> dict[str, Any]:
    """The document that the command prints. Run again with the same query, it resumes or refreshes."""
    started = time.monotonic()
    try:
        github = access.github()
    except (NotAllowed, Broken) as problem:
        raise BadInput(f"{problem}.") from None
    try:
        harvest = same_harvest(study, wanted) or first_harvest(study, wanted, access, github, wait)
        carry_out(harvest, github, wait)
    finally:
        github.close()
    return document(harvest, github, seconds=time.monotonic() - started)


def same_harvest(study: Study, wanted: Wanted) -> Harvest | None:
    """The latest with this query that was not given up."""
    rows = Harvest.objects.filter(study=study).exclude(state=Harvest.State.CANCELLED).order_by("-number")
    return next((row for row in rows if from_document(row.query) == wanted), None)


def first_harvest(study: Study, wanted: Wanted, access: Access, github: GitHub, wait: Wait) -> Harvest:
    """Stored once GitHub has let us see every repository; otherwise no row is left behind."""
    new = set(access.digests) - set(Budget.objects.values_list("digest", flat=True))
    try:
        places = [place_of(github, name, access.host, wait) for name in wanted.repositories]
    except GitHubError as problem:
        Budget.objects.filter(digest__in=new).delete()
        raise BadInput(said(problem)) from None
    with transaction.atomic():
        rows = [repository_at(study=study, place=place) for place in places]
        return start_harvest(study=study, wanted=wanted, repositories=rows, by=None, now=access.clock())


def place_of(github: GitHub, name: str, host: str, wait: Wait) -> Place:
    while True:
        try:
            found = github.repository(name)
            break
        except Limited as limited:
            wait(limited.until)
    owner, _, today = found.name.partition("/")
    return Place(found.id, host, owner, today)


def said(problem: GitHubError) -> str:
    if isinstance(problem, Gone):
        return f"GitHub shows no repository at {problem.what} ({problem.reason}): check the name, and what the token may see."
    if isinstance(problem, Unreachable):
        return f"{problem}. Run this again later; it goes on from where it was."
    return f"{str(problem).rstrip('.')}."


def carry_out(harvest: Harvest, github: GitHub, wait: Wait) -> None:
    owner = secrets.token_hex(8)
    begin(harvest, owner=owner)
    try:
        run(Harvester(harvest, github, owner), wait=wait)
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
