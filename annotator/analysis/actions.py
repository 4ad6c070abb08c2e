"""Asking for a figure: its row waits for a worker, and is found by the digest of what was asked ever after."""

import datetime as dt
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.analysis.asked import AGREEMENT, COMPARISON, KINDS, REPOSITORY, Asked
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.analysis.reading import Reading
from annotator.analysis.relating import comparable, comparable_key
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import Refused

MOST, MOST_OF_ONE = 500, 100  # figures of a study, and of a person there: each is kept with its pictures
UNUSED = dt.timedelta(days=30)  # after which a figure that nobody asked for or opened may give way
DAY = dt.timedelta(days=1)


@transaction.atomic
def ask(*, study: Study, asked: Asked, by: User | None) -> Drawing:
    """The figure's row, as it was where it had been asked for before. What cannot be counted is refused here."""
    asked = with_keys(study, asked)
    found = Drawing.objects.filter(study=study, key=asked.key).first()
    if found is not None:
        opened(found)
        return found
    sheet = numbers(study, asked)
    Study.objects.select_for_update().get(pk=study.pk)  # two at once count together
    make_room(study, by)
    made, is_new = Drawing.objects.get_or_create(
        study=study, key=asked.key, defaults={"asked": asked.document(), "wanted": sheet.digest, "asked_by": by}
    )
    if is_new:
        _record("asked for a figure", made, by=by, new={"key": made.key[:12], "kind": asked.kind})
    return made


def with_keys(study: Study, asked: Asked) -> Asked:
    """Facets by their keys, however they were named."""
    if asked.kind == AGREEMENT:
        return replace(asked, by=comparable_key(comparable(study), asked.by))
    across = study if asked.kind != COMPARISON else Study.objects.filter(slug=asked.other).first() or study
    return replace(asked, by=_key(study, asked.by), across=_key(across, asked.across))


def _key(study: Study, name: str) -> str:
    return name if name in ("", REPOSITORY) else Reading(study).question(name).key


def make_room(study: Study, by: User | None) -> None:
    """For one more: of too many the one goes that was not used for the longest, if that is long enough."""
    rows = Drawing.objects.filter(study=study)
    bounds = [(f"This study has {MOST} figures", rows, MOST)]
    bounds += [(f"You have {MOST_OF_ONE} figures in this study", rows.filter(asked_by=by), MOST_OF_ONE)] if by else []
    for says, kept, most in bounds:
        if kept.count() < most:
            continue
        unused = kept.filter(used_at__lt=timezone.now() - UNUSED, lease_until=None).order_by("used_at", "pk").first()
        if unused is None:
            raise Refused(
                f"{says} already, each used within {UNUSED.days} days. Take one of them, or other looks of a table as a file."
            )
        _record("let an unused figure go", unused, by=by, old={"key": unused.key[:12], "kind": unused.asked["kind"]})
        unused.delete()


def opened(drawing: Drawing) -> None:
    """Somebody uses it: noted once a day."""
    now = timezone.now()
    if drawing.used_at < now - DAY:
        Drawing.objects.filter(pk=drawing.pk).update(used_at=now)


def _record(verb: str, drawing: Drawing, *, by: User | None, old: object = None, new: object = None) -> None:
    record(
        verb,
        by=by,
        kind="drawing",
        object_id=drawing.pk,
        label=drawing.asked.get("title")
        or KINDS[drawing.asked["kind"]],  # a sheet's may name a study that is not everybody's
        study_id=drawing.study_id,
        old=old,
        new=new,
    )
