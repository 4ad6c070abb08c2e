"""What is done with releases."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.publication.checks import Check
from annotator.publication.describing import describe
from annotator.publication.keeping import keep
from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.writing import Written
from annotator.studies.models import Study
from annotator.web.errors import Refused

BUSY = (Release.State.WAITING, Release.State.RUNNING)
STOPPED = "Another worker writes this release by now."


@transaction.atomic
def publish(
    *,
    study: Study,
    written: Written,
    checks: Sequence[Check],
    options: Options,
    by: User | None,
    row: Release | None = None,
    owner: str = "",
) -> Release:
    """Under the next number; the same content was published before: that release, and nothing new.

    `row` is the request that a worker carries out, as the `owner` of its lease.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    same = Release.objects.published().filter(study=study, sha256=written.sha256).first()
    if same:
        if row:
            end(row, owner, state=Release.State.UNCHANGED, message=f"Nothing has changed since release {same.number}.")
        return same
    now = timezone.now()
    latest = Release.objects.published().filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    files = describe(written, number=latest + 1, at=now)
    keep(written.folder, files)
    values = {
        "number": latest + 1,
        "state": Release.State.PUBLISHED,
        "sha256": written.sha256,
        "manifest": [file.document() for file in files],
        "checks": [check.document() for check in checks],
        "options": options.as_dict(),
        "published_at": now,
    }
    release = published(row, owner, values) if row else Release.objects.create(study=study, asked_by=by, **values)
    record(
        "published a release",
        by=by,
        kind="release",
        object_id=release.pk,
        label=f"release {release.number}",
        study_id=study.pk,
        new={"number": release.number, "sha256": release.sha256, "options": values["options"]},
    )
    return release


def published(row: Release, owner: str, values: dict[str, object]) -> Release:
    end(row, owner, **values)
    return Release.objects.get(pk=row.pk)


def end(row: Release, owner: str, **values: object) -> None:
    """The request is over; whoever lost it to another worker changes nothing."""
    mine = Release.objects.filter(pk=row.pk, lease_owner=owner, state=Release.State.RUNNING)
    if not mine.update(lease_owner="", lease_until=None, progress={}, **values):
        raise Refused(STOPPED)
