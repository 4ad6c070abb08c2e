"""What an answer's head says about limits: primary (an allowance an hour) and secondary (too fast)."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from annotator.clients.github.budget import Reading, Resource

RESOURCES: dict[str, Resource] = {"core": "core", "search": "search", "graphql": "graphql"}
FORGIVEN_SKEW = timedelta(seconds=5)
PRIMARY_WORDS = "api rate limit exceeded"
SECONDARY_WORDS = ("secondary rate limit", "abuse detection", "please wait a few minutes before you try again")


def read(
    headers: Mapping[str, str], *, status: int, message: str, resource: Resource, reserved: int, now: datetime
) -> Reading:
    """Headers by lower-case name. The server's clock counts: times are moved by what ours is off."""
    skew = _skew(headers, now)
    remaining, reset = _number(headers.get("x-ratelimit-remaining")), _number(headers.get("x-ratelimit-reset"))
    reset_at = None if reset is None else datetime.fromtimestamp(reset + 1, UTC) + skew  # within that second
    told = _retry_after(headers.get("retry-after"), now)
    is_limit = status in (403, 429) or "rate limit" in message.lower()
    is_primary = is_limit and told is None and (remaining == 0 or message.lower().startswith(PRIMARY_WORDS))
    return Reading(
        resource=RESOURCES.get(headers.get("x-ratelimit-resource", ""), resource),
        reserved=reserved,
        limit=_number(headers.get("x-ratelimit-limit")),
        remaining=remaining,
        reset_at=reset_at,
        closed_until=(reset_at or now + timedelta(minutes=1)) if is_primary else None,
        hold_until=told if is_limit or status == 503 else None,
        is_secondary=not is_primary and _is_secondary(status, message, told),
    )


def _is_secondary(status: int, message: str, told: datetime | None) -> bool:
    if status == 429 or (told and status in (403, 503)):
        return True
    return status in (200, 403) and any(words in message.lower() for words in SECONDARY_WORDS)


def _skew(headers: Mapping[str, str], now: datetime) -> timedelta:
    theirs = _date(headers.get("date"))
    off = now - theirs if theirs else timedelta()
    return off if abs(off) > FORGIVEN_SKEW else timedelta()


def _retry_after(value: str | None, now: datetime) -> datetime | None:
    seconds = _number(value)
    return _date(value) if seconds is None else now + timedelta(seconds=max(0, seconds))


def _date(value: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(value).astimezone(UTC) if value else None
    except ValueError:
        return None


def _number(value: str | None) -> int | None:
    try:
        return int(float(value)) if value is not None else None
    except ValueError:
        return None
