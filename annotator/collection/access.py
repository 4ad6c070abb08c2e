"""Where GitHub is asked, and by which tokens. A token goes to the host that it was stored for, and to no other."""

import datetime as dt
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from os import environ
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

from annotator.clients.github.budget import Clock, utc_now
from annotator.collection.budget import SharedBudget
from annotator.collection.models import GitHubToken
from annotator.collection.sealing import Unreadable, unseal
from annotator.settings import is_api_address
from annotator.studies.models import Study
from annotator.web.errors import BadInput

if TYPE_CHECKING:
    from annotator.clients.github.client import GitHub
    from annotator.clients.github.wire import Key

GITHUB = "github.com"
GITHUB_API = "https://api.github.com"
Wait = Callable[[dt.datetime], None]


@dataclass(frozen=True)
class Access:
    """Where GitHub's API is, and the tokens for it; they are shown nowhere."""

    url: str
    tokens: tuple[str, ...]
    clock: Clock = utc_now
    pause: Callable[[float], None] = time.sleep
    names: tuple[str, ...] = ()  # of the tokens, in their order
    called: str = ""  # the host, where its address does not say how it is called

    def __repr__(self) -> str:
        return f"Access({self.url}, {len(self.tokens)} tokens)"

    @property
    def digests(self) -> list[str]:
        from annotator.clients.github.wire import digest  # loads PyGithub, which most web processes never need

        return [digest(token) for token in self.tokens]

    @property
    def host(self) -> str:
        """As items name it."""
        return self.called or host_of(self.url)

    def named(self) -> list[str]:
        return list(self.names) or [f"token {place} of the server" for place in range(1, len(self.tokens) + 1)]

    def keys(self) -> "list[Key]":
        from annotator.clients.github.wire import Key

        rows = zip(self.tokens, self.digests, self.named(), strict=True)
        return [Key(token, SharedBudget(digest, self.clock), name=name) for token, digest, name in rows]

    def github(self) -> "GitHub":
        from annotator.clients.github.client import GitHub

        return GitHub(self.url, self.keys(), clock=self.clock, pause=self.pause)


def host_of(url: str) -> str:
    """An Enterprise server's API is below its own name; any other address stands for GitHub."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("api.")
    is_own = parts.path.rstrip("/").endswith("/api/v3") or host.endswith(".ghe.com")
    return host if is_own else GITHUB


def own_address() -> str:
    """GITHUB_API_URL, or else GitHub's own."""
    url = environ.get("GITHUB_API_URL", "").strip() or GITHUB_API
    if not is_api_address(url):
        raise BadInput("GITHUB_API_URL is no address that a token may go to: give one with https.")
    return url


def hosts() -> dict[str, str]:
    """The hosts that may be asked, by name, each with the address of its API. The administrator says which."""
    own = own_address()
    return {GITHUB: GITHUB_API, host_of(own): own, **settings.GITHUB_HOSTS}


def access_from_environment() -> Access:
    tokens = tuple(dict.fromkeys(re.split(r"[\s,]+", environ.get("GITHUB_TOKENS", "").strip(" ,\n"))))
    if tokens == ("",):
        raise BadInput("There is no GitHub token: give one or more in GITHUB_TOKENS, separated by commas.")
    return Access(own_address(), tokens)


def access_for(study: Study, host: str) -> Access:
    """By the study's own tokens for this host, else by the server's."""
    address = hosts().get(host)
    if address is None:
        raise BadInput(f"{host} is no host that this server may ask. The administrator sets GITHUB_HOSTS.")
    rows = list(GitHubToken.objects.usable(study, host).order_by("added_at", "pk"))
    if rows:
        return Access(address, tuple(map(opened, rows)), names=tuple(row.name for row in rows), called=host)
    return _of_server(study, host)


def _of_server(study: Study, host: str) -> Access:
    if GitHubToken.objects.filter(study=study, host=host, removed_at=None).exists():
        wanting = f"GitHub at {host} refused every token that the study has stored: a lead stores a new one."
    else:
        wanting = f"There is no GitHub token for {host}: a lead of the study stores one."
    try:
        own = access_from_environment()
    except BadInput:
        raise BadInput(wanting) from None
    if own.host != host:
        raise BadInput(wanting)
    return own


def opened(row: GitHubToken) -> str:
    try:
        return unseal(row.sealed, study_id=row.study_id, host=row.host)
    except Unreadable:
        raise BadInput(
            f"The token “{row.name}” can no longer be read, since the server's secret has changed: store it again."
        ) from None
