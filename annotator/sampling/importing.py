"""Bugs as a sheet numbers them: many at once, inside an import's transaction."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows


@transaction.atomic
def add_numbered_bugs(*, study: Study, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Bugs given as (item, ordinal) under the study's next numbers; the caller holds the study's row.

    Ids by (item, ordinal), of all bugs of the study.
    """
    last = Bug.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
    rows = ((study.pk, item, ordinal, number) for number, (item, ordinal) in enumerate(places, last + 1))
    insert_rows(Bug, ("study_id", "item_id", "ordinal", "number"), rows)
    bugs = Bug.objects.filter(study=study).values_list("item_id", "ordinal", "pk")
    return {(item, ordinal): pk for item, ordinal, pk in bugs}
