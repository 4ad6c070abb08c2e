"""Which bugs are studied."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from annotator.accounts.models import User
from annotator.collection.models import Item
from annotator.history.actions import record
from annotator.sampling.models import Bug
from annotator.studies.models import Study


@transaction.atomic
def add_bugs(*, study: Study, places: Sequence[tuple[Item, int]], by: User) -> list[Bug]:
    """Take up bugs, given as item and ordinal, under the study's next numbers."""
    Study.objects.select_for_update().get(pk=study.pk)
    last = Bug.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
    bugs = Bug.objects.bulk_create(
        Bug(study=study, item=item, ordinal=ordinal, number=number)
        for number, (item, ordinal) in enumerate(places, last + 1)
    )
    record("took up bugs", by=by, kind="sampling", study_id=study.pk, new={"bugs": len(bugs), "first": last + 1})
    return bugs
