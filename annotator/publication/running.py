"""A release that was asked for, made once however often it is delivered."""

import datetime as dt

from annotator.publication.models import Release
from annotator.publication.options import options_from
from annotator.publication.releasing import clear_abandoned, make
from annotator.web import leased
from annotator.web.errors import BadInput, Refused

LASTS = dt.timedelta(seconds=60)
RENEWED = 2.0  # seconds between, with what is being done
FAILED = "It failed for a reason that is in the server's log. Nothing was published."


def left_waiting() -> list[int]:
    clear_abandoned()
    return leased.left_waiting(Release)


def perform(release_id: int) -> bool:
    """Make the release if nobody has it; False where somebody has, or it is done."""
    lease = leased.claim(Release, release_id, lasts=LASTS, progress={})
    if lease is None:
        return False
    row = Release.objects.select_related("study", "asked_by").get(pk=release_id)
    said: dict[str, object] = {}

    def tell(done: int, of: int, says: str) -> None:
        said.update(done=done, of=of, says=says)

    try:
        with lease.kept(every=RENEWED, told=lambda: {"progress": dict(said)}):  # the work itself reads one snapshot
            make(row.study, options_from(row.options), by=row.asked_by, row=row, owner=lease.owner, tell=tell)
    except (BadInput, Refused) as problem:
        lease.end(Release.State.FAILED, message=str(problem), progress={})
    except Exception:
        lease.end(Release.State.FAILED, message=FAILED, progress={})
        raise
    return True
