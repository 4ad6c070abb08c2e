"""GitHub's search as far as the collection uses it: qualifiers, windows, and at most 1,000 hits without a word."""

import re
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.services.github_server.world import Repository, Thing, World

AT_MOST = 1_000
MOMENTS = ("created", "updated", "closed", "merged")
KNOWN = {"repo", "is", "label", "author", "sort", *MOMENTS}


class Unsearchable(Exception):
    """What GitHub refuses with 422."""


@dataclass
class Asked:
    repositories: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    labels: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    moments: list[tuple[str, datetime, datetime]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    sort: str = "created-desc"


def read(query: str) -> Asked:
    asked = Asked()
    for term in shlex.split(query):
        name, colon, value = term.partition(":")
        if not colon:
            asked.words.append(term.lower())
        elif name not in KNOWN:
            raise Unsearchable(f"the qualifier {name} is not known here")
        else:
            _take(asked, name, value)
    return asked


def _take(asked: Asked, name: str, value: str) -> None:
    if name == "repo":
        asked.repositories.append(value)
    elif name == "is":
        (asked.kinds if value in ("pr", "issue", "pull-request") else asked.states).add(value)
    elif name == "label":
        asked.labels.append(value)
    elif name == "author":
        asked.authors.append(value)
    elif name == "sort":
        asked.sort = value
    else:
        asked.moments.append((name, *_window(value)))


def _window(value: str) -> tuple[datetime, datetime]:
    start, dots, end = value.partition("..")
    if not dots:
        raise Unsearchable(f"{value} is no window")
    return _moment(start, is_end=False), _moment(end, is_end=True)


def _moment(text: str, *, is_end: bool) -> datetime:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        day = datetime.fromisoformat(text).replace(tzinfo=UTC)
        return day + timedelta(days=1, microseconds=-1) if is_end else day
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", text):
        raise Unsearchable(f"{text} is no date")
    return datetime.fromisoformat(text) + (timedelta(microseconds=999_999) if is_end else timedelta())


def found(world: World, query: str, *, is_strict: bool) -> list[tuple[Repository, Thing]]:
    """All hits, newest first. Strict, as REST is: a name that isn't there, or no longer, is refused."""
    asked = read(query)
    if is_strict and not asked.kinds & {"pr", "pull-request", "issue"}:
        raise Unsearchable("Query must include 'is:issue' or 'is:pull-request'")
    if is_strict and not all(world.named(name) for name in asked.repositories):
        raise Unsearchable(
            "The listed users and repositories cannot be searched either because the resources do not exist "
            "or you do not have permission to view them."
        )
    places = [world.named(name) for name in asked.repositories] or world.repositories
    hits = [(place, thing) for place in places if place for thing in list(place.things.values()) if _fits(thing, asked)]
    return sorted(hits, key=lambda hit: (hit[1].created, hit[1].id), reverse=True)


def _fits(thing: Thing, asked: Asked) -> bool:
    kind = {"pr", "pull-request"} if thing.kind == "pull_request" else {"issue"}
    if asked.kinds and not asked.kinds & kind:
        return False
    states = {"merged", "closed"} if thing.merged else {"closed"} if thing.closed else {"open"}
    if not asked.states <= states:
        return False
    return _is_in_time(thing, asked) and _has_words(thing, asked)


def _is_in_time(thing: Thing, asked: Asked) -> bool:
    for name, start, end in asked.moments:
        moment: datetime | None = getattr(thing, name)
        if moment is None or not start <= moment <= end:
            return False
    return True


def _has_words(thing: Thing, asked: Asked) -> bool:
    labels = {label.name.lower() for label in thing.labels}
    if not {label.lower() for label in asked.labels} <= labels:
        return False
    if asked.authors and thing.author not in asked.authors:
        return False
    return all(word in f"{thing.title} {thing.body}".lower() for word in asked.words)
