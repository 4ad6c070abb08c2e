"""Acts that need several stages at once."""

from collections.abc import Sequence

from django.db import transaction

from annotator.accounts.actions import person_named
from annotator.accounts.models import User
from annotator.codebook.actions import create_codebook
from annotator.codebook.document import Document
from annotator.studies.actions import give_role, start_study
from annotator.studies.models import Study
from annotator.studies.protocol import Protocol


@transaction.atomic
def create_study(
    *,
    slug: str,
    title: str,
    document: Document,
    by: User | None,
    question: str = "",
    protocol: Protocol | None = None,
    members: Sequence[tuple[str, str]] = (),
) -> Study:
    """A study with its codebook and people, each (name, role); who is not there yet becomes a user without password."""
    study = start_study(slug=slug, title=title, question=question, protocol=protocol, by=by)
    create_codebook(study=study, document=document, by=by)
    for name, role in members:
        give_role(study=study, user=person_named(name, by=by), role=role, by=by)
    return study
