"""Two releases compared: by a worker, once, and kept by the hashes of both, which never change."""

import json
import logging
import zlib
from typing import Any, cast

from django.core.cache import cache

from annotator.publication.changes import in_storage
from annotator.publication.comparing import comparison, files_between
from annotator.publication.keeping import files_of
from annotator.publication.models import Release
from annotator.web.errors import BadInput, Refused
from annotator.web.numbers import whole
from annotator.web.wake import wake

logger = logging.getLogger(__name__)
TASK = "annotator.publication.tasks.compare"
KEPT = 30 * 24 * 3600  # seconds; later it is compared again
ASKED = 120  # seconds after which a worker is woken anew
AGAIN_AFTER = 3  # seconds
FAILED = b""
FAILED_FOR = 60  # seconds
CANNOT = "These releases cannot be compared, for a reason that is in the server's log."


def other_number(release: Release, text: str) -> int:
    """Of the release with which this one is to be compared."""
    number = whole(text)
    if number is None:
        raise BadInput(f"“{text[:20]}” is no number of a release.")
    if number == release.number:
        raise BadInput(f"Release {number} is the same release: name another one.")
    return number


def earlier_number(release: Release, text: str) -> int:
    number = other_number(release, text)
    if number > (release.number or 0):
        raise BadInput(f"Release {number} is later: ask what it changed since release {release.number}.")
    return number


def compared(since: Release, release: Release) -> dict[str, Any] | None:
    """What is another in `release`. None while a worker compares them: it is woken where nobody was."""
    held = held_for(since, release)
    if held == FAILED:
        raise Refused(CANNOT)
    if held is None:
        return None
    found: dict[str, Any] = json.loads(zlib.decompress(held))
    return found | {"since": since.number, "files": files_between(files_of(since), files_of(release))}


def held_for(since: Release, release: Release) -> bytes | None:
    key = key_of(since, release)
    is_asked = False
    try:
        held = cast(bytes | None, cache.get(key))
        is_asked = held is None and not cache.add(f"{key}:asked", b"1", ASKED)
    except Exception as problem:  # whatever the cache's client raises: it is compared later
        logger.warning("the cache gave no comparison: %s", problem)
        held = None
    if held is None and not is_asked:
        wake(TASK, since.pk, release.pk)
    return held


def compare(since_id: int, release_id: int) -> bool:
    """Compare them and keep it; compared twice it is the same. False where a release is gone."""
    rows = Release.objects.published().in_bulk([since_id, release_id])
    if len(rows) < 2:
        return False
    since, release = rows[since_id], rows[release_id]
    key = key_of(since, release)
    try:
        found = comparison(in_storage(files_of(since)), in_storage(files_of(release)))
        cache.set(key, zlib.compress(json.dumps(found, ensure_ascii=False).encode()), KEPT)
    except Exception:
        cache.set(key, FAILED, FAILED_FOR)
        raise
    finally:
        cache.delete(f"{key}:asked")
    return True


def key_of(since: Release, release: Release) -> str:
    return f"release-changes:{since.sha256}:{release.sha256}"
