"""Settled labels whose category has lost its standing: they wait for a decision anew, and stay in the history."""

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication import settling
from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category
from annotator.history.actions import record


@transaction.atomic
def doubt_labels(*, category: Category, by: User, why: str) -> int:
    """How many bugs go back to the queue. The blind answers stay as they are."""
    codebook = category.facet.codebook
    mine = Resolution.objects.current().filter(study=codebook.study_id, facet=category.facet, category=category)
    bugs = set(mine.values_list("bug_id", flat=True))
    whole = Resolution.objects.current().filter(study=codebook.study_id, facet=category.facet, bug__in=bugs)
    if not whole.update(is_stale=True):
        return 0
    settling.reopen_stale(codebook.study_id)
    record(
        "sent labels back to the queue",
        by=by,
        kind="codebook",
        object_id=codebook.pk,
        label=category.name,
        study_id=codebook.study_id,
        new={"bugs": len(bugs)},
        why=why,
    )
    return len(bugs)
