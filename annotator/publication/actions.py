"""What is done with releases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.adjudication.models import Dispute
from annotator.history.actions import record
from annotator.publication.checks import Check
from annotator.publication.describing import describe
from annotator.publication.keeping import keep
from annotator.publication.models import Release
from annotator.publication.options import Options, check
from annotator.publication.writing import Written
from annotator.studies.models import Study
from annotator.studies.protocol import protocol_of
from annotator.web.errors import Refused
from annotator.web.texts import check_text

BUSY = (Release.State.WAITING, Release.State.RUNNING)
STOPPED = "Another worker writes this release by now."
LONGEST_NOTES = 10_000


class Overtaken(Exception):
    """Another release was published while this one was compared with the latest."""


@dataclass(frozen=True)
class Made:
    """A release's content as it was written and looked at, before it has a number."""

    written: Written
    checks: Sequence[Check]
    options: Options


def latest(study: Study) -> Release | None:
    return Release.objects.published().filter(study=study).order_by("-number").first()


@transaction.atomic
def ask(*, study: Study, options: Options, notes: str = "", by: User) -> Release:
    """A request that a worker carries out; one at a time."""
    check(study, options)
    check_text(notes, "notes")
    Study.objects.select_for_update().get(pk=study.pk)
    if Release.objects.filter(study=study, state__in=BUSY).exists():
        raise Refused("A release is being written already. Wait until it is there.")
    row = Release.objects.create(study=study, options=options.as_dict(), notes=notes[:LONGEST_NOTES], asked_by=by)
    _record("asked for a release", row, by=by, new=row.options)
    return row


@transaction.atomic
def publish(
    *,
    study: Study,
    made: Made,
    previous: Release | None,
    changes: dict[str, Any] | None,
    by: User | None,
    row: Release | None = None,
    owner: str = "",
) -> Release:
    """Under the next number; the same content was published before: that release, and nothing new.

    `changes` since `previous`, which was the latest when they were counted. `row` is the request that a worker
    carries out, as the `owner` of its lease.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    same = Release.objects.published().filter(study=study, sha256=made.written.sha256).first()
    if same:
        if row:
            end(row, owner, state=Release.State.UNCHANGED, message=f"Nothing has changed since release {same.number}.")
        return same
    if latest(study) != previous:
        raise Overtaken
    number, now = (previous.number or 0) + 1 if previous else 1, timezone.now()
    files = describe(made.written, number=number, at=now, changes=changes)
    keep(made.written.folder, files)
    values = {
        "number": number,
        "state": Release.State.PUBLISHED,
        "sha256": made.written.sha256,
        "manifest": [file.document() for file in files],
        "checks": [check.document() for check in made.checks],
        "options": made.options.as_dict(),
        "published_at": now,
    }
    if row:
        end(row, owner, **values)
    release = Release.objects.get(pk=row.pk) if row else Release.objects.create(study=study, asked_by=by, **values)
    _record("published a release", release, by=by, new={"sha256": release.sha256, "options": values["options"]})
    return release


def end(row: Release, owner: str, **values: object) -> None:
    """The request is over; whoever lost it to another worker changes nothing."""
    mine = Release.objects.filter(pk=row.pk, lease_owner=owner, state=Release.State.RUNNING)
    if not mine.update(lease_owner="", lease_until=None, progress={}, **values):
        raise Refused(STOPPED)


@transaction.atomic
def set_public(*, release: Release, is_public: bool, by: User) -> Release:
    """Let anyone who has its address read it, or no longer."""
    if is_public and protocol_of(release.study).hide_names and _waits(release.study):
        raise Refused(
            "Disputes wait for somebody who decides without the raters' names, and a public file would tell whose answer "
            "is whose. Settle them first."
        )
    if not Release.objects.published().filter(pk=release.pk).exclude(is_public=is_public).update(is_public=is_public):
        return release
    release.is_public = is_public
    _record("made a release public" if is_public else "made a release private", release, by=by)
    return release


def _waits(study: Study) -> bool:
    return Dispute.objects.filter(study=study, is_open=True).exists()


def _record(verb: str, release: Release, *, by: User | None, new: Any = None) -> None:
    record(
        verb,
        by=by,
        kind="release",
        object_id=release.pk,
        label=str(release),
        study_id=release.study_id,
        new=new,
        why=release.notes,
    )
