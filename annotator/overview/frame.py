"""What stands around every page of a study: its places, the one that is open, and what waits there for the viewer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from annotator.accounts.models import User
from annotator.adjudication import queue
from annotator.codebook.models import Codebook
from annotator.labeling.queries import to_label
from annotator.screening.queries import to_screen
from annotator.studies.models import Role, Study

# Label, first page, and the namespace of its pages; a stage without a page has no entry.
STAGES = [
    ("Overview", "overview:home", "overview"),
    ("Collection", "collection:harvests", "collection"),
    ("Screening", "screening:overview", "screening"),
    ("Sampling", "sampling:samples", "sampling"),
    ("Labeling", "labeling:rounds", "labeling"),
    ("Agreement", "agreement:trend", "agreement"),
    ("Adjudication", "adjudication:queue", "adjudication"),
    ("Reproduction", "reproduction:recipes", "reproduction"),
    ("Analysis", "analysis:distributions", "analysis"),
    ("Publication", "publication:exports", "publication"),
]
BESIDE = [
    ("Bugs", "bugs:bugs", "bugs"),
    ("Codebook", "codebook:tree", "codebook"),
    ("Members", "studies:members", "studies"),
    ("History", "history:events", "history"),
]
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Place:
    label: str
    url: str
    is_current: bool
    waiting: int = 0
    note: str = ""


def places(
    study: Study,
    wanted: Sequence[tuple[str, str, str]],
    *,
    here: str,
    waiting: Mapping[str, int] = NOTHING,
    notes: Mapping[str, str] = NOTHING,
) -> list[Place]:
    return [
        Place(
            label,
            reverse(view, args=[study.slug]),
            is_current=name == here,
            waiting=waiting.get(name, 0),
            note=notes.get(name, ""),
        )
        for label, view, name in wanted
    ]


def notes_on(study: Study) -> dict[str, str]:
    """By namespace: the version of the codebook that the next round would be opened with."""
    number = Codebook.objects.filter(study=study).values_list("number", flat=True).first()
    return {"codebook": f"v{number}"} if number else {}


def waiting_for(study: Study, viewer: User, roles: frozenset[str]) -> dict[str, int]:
    """By namespace: the viewer's own bugs of open rounds, own candidates, and disputes of rounds that are over. Nothing of others."""
    found = {"adjudication": queue.waiting(study, viewer, roles)}
    if Role.RATER in roles:
        found["labeling"] = to_label(study, viewer)
        found["screening"] = to_screen(study, viewer)
    return found
