"""Asking for a figure: its row waits for a worker, and is found by the digest of what was asked ever after."""

from django.db import transaction

from annotator.accounts.models import User
from annotator.analysis.asked import KINDS, Asked
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import Refused

MOST = 500  # figures of a study: each is kept for good, with its pictures


@transaction.atomic
def ask(*, study: Study, asked: Asked, by: User | None) -> Drawing:
    """The figure's row, as it was where it had been asked for before. What cannot be counted is refused here."""
    found = Drawing.objects.filter(study=study, key=asked.key).first()
    if found is not None:
        return found
    sheet = numbers(study, asked)
    Study.objects.select_for_update().get(pk=study.pk)  # two at once count together
    if Drawing.objects.filter(study=study).count() >= MOST:
        raise Refused(f"This study has {MOST} figures already. Take one of them, or other looks of a table as a file.")
    made, is_new = Drawing.objects.get_or_create(
        study=study, key=asked.key, defaults={"asked": asked.document(), "wanted": sheet.digest}
    )
    if is_new:
        record(
            "asked for a figure",
            by=by,
            kind="drawing",
            object_id=made.pk,
            label=asked.title or KINDS[asked.kind],  # the sheet's may name a study that is not everybody's
            study_id=study.pk,
            new={"key": made.key[:12], "kind": asked.kind},
        )
    return made
