"""What a person may not ask for though she may read the study."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from annotator.adjudication.names import nameless_bugs
from annotator.adjudication.queries import FINAL, UNANIMOUS
from annotator.analysis.asked import Asked
from annotator.analysis.sheets import Sheet
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.errors import Refused


def names_a_rater(labels: str, viewer: Any) -> bool:
    """Another than the viewer."""
    return labels not in ("", FINAL, UNANIMOUS, viewer.username)


def permitted(study: Study, viewer: Any, choices: Iterable[str]) -> list[str]:
    """Whose labels the viewer may ask for: counts narrowed down to a repository of one bug say what was answered there."""
    asked = list(choices)
    raters = {labels for labels in asked if names_a_rater(labels, viewer)}
    hidden = raters if raters and nameless_bugs(study, viewer, study.my_roles) else set()
    return [labels for labels in asked if labels not in hidden]


def refuse_rater_labels(study: Study, viewer: Any, labels: str) -> None:
    if not permitted(study, viewer, [labels]):
        raise Refused(
            "Bugs wait for your decision, which you make without the raters' names: ask for final or unanimous labels."
        )


def allowed(study: Study, viewer: Any, asked: Asked) -> Asked:
    """A comparison is for members of both studies; for others the second one does not exist."""
    refuse_rater_labels(study, viewer, asked.labels)
    if asked.other:
        refuse_rater_labels(study_for(viewer, asked.other), viewer, asked.labels)
    return asked


def told_to(study: Study, viewer: Any, sheet: Sheet) -> Sheet:
    """The sheet without what other labels would change that the viewer may not ask for."""
    told = permitted(study, viewer, [turn.labels for turn in sheet.turns])
    return replace(sheet, turns=tuple(turn for turn in sheet.turns if turn.labels in told))
