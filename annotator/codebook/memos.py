"""Thoughts noted while coding: on a code or category, or on the codebook as a whole. They are added to, never changed."""

from django.db import transaction

from annotator.accounts.models import User
from annotator.codebook.models import Category, Codebook, Memo
from annotator.codebook.texts import checked
from annotator.history.actions import record


@transaction.atomic
def write_memo(*, codebook: Codebook, text: str, by: User, category: Category | None = None) -> Memo:
    text = checked(text, "memo")
    memo = Memo.objects.create(codebook=codebook, category=category, text=text, by=by)
    record(
        "wrote a memo",
        by=by,
        kind="codebook",
        object_id=codebook.pk,
        label=category.name if category else codebook.title,
        study_id=codebook.study_id,
        new={"memo": text[:200]},
    )
    return memo
