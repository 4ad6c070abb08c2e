"""The names under which a person reads of the others."""

from typing import Any

from annotator.adjudication.names import nameless_bugs
from annotator.publication.pseudonyms import Hide, pseudonyms_of
from annotator.studies.models import Study


def shown_to(study: Study, user: Any) -> Hide:
    """User names; pseudonyms for who still decides without the raters' names."""
    return pseudonyms_of(study) if nameless_bugs(study, user, study.my_roles) else str
