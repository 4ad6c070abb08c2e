"""What a person may not ask for though she may read the study."""

from typing import Any

from annotator.adjudication.names import nameless_bugs
from annotator.adjudication.queries import FINAL, UNANIMOUS
from annotator.analysis.asked import Asked
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.errors import Refused


def names_a_rater(labels: str, viewer: Any) -> bool:
    """Another than the viewer."""
    return labels not in ("", FINAL, UNANIMOUS, viewer.username)


def refuse_rater_labels(study: Study, viewer: Any, labels: str) -> None:
    """Counts of one rater's labels, narrowed down to a repository of one bug, say what she answered there."""
    if names_a_rater(labels, viewer) and nameless_bugs(study, viewer, study.my_roles):
        raise Refused(
            "Bugs wait for your decision, which you make without the raters' names: ask for final or unanimous labels."
        )


def allowed(study: Study, viewer: Any, asked: Asked) -> Asked:
    """A comparison is for members of both studies; for others the second one does not exist."""
    refuse_rater_labels(study, viewer, asked.labels)
    if asked.other:
        refuse_rater_labels(study_for(viewer, asked.other), viewer, asked.labels)
    return asked
