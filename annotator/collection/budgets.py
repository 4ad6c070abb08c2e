"""What tokens may still ask, by their names, and how long the rest of a harvest may take within that."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from django.utils import timezone

from annotator.collection.budget import WHOLE
from annotator.collection.models import Budget, GitHubToken, Harvest
from annotator.studies.models import Study

RESOURCES = {"core": ("REST", "requests"), "graphql": ("GraphQL", "points"), "search": ("Search", "searches")}
KEY = 12  # letters of a token's digest by which it is named
HOUR = 60  # minutes between two allowances


@dataclass(frozen=True)
class Allowance:
    """Of one resource. `remaining` is None where nothing was asked yet."""

    resource: str
    remaining: int | None
    limit: int | None
    reset_at: dt.datetime | None

    @property
    def label(self) -> str:
        return RESOURCES[self.resource][0]

    @property
    def unit(self) -> str:
        return RESOURCES[self.resource][1]


@dataclass(frozen=True)
class Key:
    """A token as it may be shown."""

    name: str
    allowances: tuple[Allowance, ...]
    blocked_until: dt.datetime | None
    is_refused: bool = False


def keys_of(harvest: Harvest) -> list[Key]:
    """The tokens of the harvest's last run."""
    named = [(str(name), str(digest)) for name, digest in harvest.keys]
    digests = [digest for _, digest in named]
    refused = GitHubToken.objects.filter(study=harvest.study_id, host=harvest.host, digest__in=digests)
    gone = set(refused.filter(refused_at__isnull=False, removed_at=None).values_list("digest", flat=True))
    rows = budgets_of(digests)
    return [key_of(name, rows.get(digest, ()), is_refused=digest in gone) for name, digest in named]


@dataclass(frozen=True)
class StoredKey:
    """A token that the study has stored, as its leads see it. `key` names it in addresses."""

    key: str
    row: GitHubToken
    allowances: tuple[Allowance, ...]
    blocked_until: dt.datetime | None


def stored_keys(study: Study) -> list[StoredKey]:
    stored = list(GitHubToken.objects.present(study).select_related("added_by").order_by("added_at", "pk"))
    rows = budgets_of([row.digest for row in stored])
    keys = [key_of(row.name, rows.get(row.digest, ())) for row in stored]
    pairs = zip(stored, keys, strict=True)
    return [StoredKey(row.digest[:KEY], row, key.allowances, key.blocked_until) for row, key in pairs]


def budgets_of(digests: Sequence[str]) -> dict[str, list[Budget]]:
    found: dict[str, list[Budget]] = {}
    for row in Budget.objects.filter(digest__in=digests) if digests else ():
        found.setdefault(row.digest, []).append(row)
    return found


def key_of(name: str, rows: Iterable[Budget], *, is_refused: bool = False) -> Key:
    now, by_resource = timezone.now(), {row.resource: row for row in rows}
    whole = by_resource.get(WHOLE)
    blocked = whole.blocked_until if whole and whole.blocked_until and whole.blocked_until > now else None
    shown = tuple(_allowance(by_resource[name], now) for name in RESOURCES if name in by_resource)
    return Key(name, shown, blocked, is_refused)


def _allowance(row: Budget, now: dt.datetime) -> Allowance:
    """After its reset it is full again."""
    if row.reset_at and row.reset_at <= now:
        return Allowance(row.resource, row.limit, row.limit, None)
    left = None if row.remaining is None else max(0, row.remaining - row.reserved)
    return Allowance(row.resource, left, row.limit, row.reset_at)


def minutes_left(left: int, *, per_minute: float, keys: Sequence[Key], now: dt.datetime) -> int | None:
    """At this pace and within what the tokens may ask: one REST request for each item. None: nobody can say."""
    if not left or not per_minute:
        return None
    rest = [one for key in keys for one in key.allowances if one.resource == "core" and one.remaining is not None]
    remaining, limit = sum(one.remaining or 0 for one in rest), sum(one.limit or 0 for one in rest)
    beyond = left - remaining
    if not rest or not limit or beyond <= 0:
        return ceil(left / per_minute)
    resets = [one.reset_at for one in rest if one.reset_at]
    until_reset = max(0.0, (min(resets) - now).total_seconds() / 60) if resets else HOUR
    full, last = divmod(beyond - 1, limit)
    return ceil(max(left / per_minute, until_reset + full * HOUR + (last + 1) / per_minute))
