"""Figures as they were last drawn: what was asked, who may see them, and whether what they show has changed since."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.shortcuts import get_object_or_404

from annotator.adjudication.queries import FINAL
from annotator.analysis.asked import KINDS, Asked, read_asked
from annotator.analysis.formats import FORMATS
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.analysis.permitted import allowed, permitted, told_to
from annotator.analysis.sheets import Sheet, sheet_of
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput

PICTURES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def asked_of(drawing: Drawing) -> Asked:
    return read_asked(drawing.asked["kind"], {k: v for k, v in drawing.asked.items() if k != "kind"})


def drawing_for(study: Study, viewer: Any, key: str) -> Drawing:
    """A figure as the viewer may read it: what it compares with is hers too, and no rater's labels are told that she may not ask for."""
    drawing = get_object_or_404(Drawing.objects.select_related("study"), study=study, key=key)
    allowed(study, viewer, asked_of(drawing))
    if drawing.data:
        drawing.data = told_to(study, viewer, sheet_of(drawing.data)).document()
    return drawing


@dataclass(frozen=True)
class Kept:
    """A figure with the numbers that it shows. `is_stale` says that they are others by now: a worker is woken."""

    drawing: Drawing
    asked: Asked
    sheet: Sheet | None
    is_stale: bool

    @property
    def title(self) -> str:
        return self.sheet.title if self.sheet else self.asked.title or KINDS[self.asked.kind]


def kept(drawing: Drawing) -> Kept:
    asked = asked_of(drawing)
    return Kept(drawing, asked, sheet_of(drawing.data) if drawing.data else None, is_stale(drawing, asked))


def is_stale(drawing: Drawing, asked: Asked) -> bool:
    try:
        return numbers(drawing.study, asked).digest != drawing.drawn_of
    except BadInput:  # a facet or a study that it names is no more
        return drawing.state != Drawing.State.FAILED


def listed(study: Study, viewer: Any) -> list[Drawing]:
    """The study's figures that the viewer may see, the newest first; without their pictures."""
    mine = set(Membership.objects.filter(user=viewer).values_list("study__slug", flat=True))
    rows = list(Drawing.objects.filter(study=study).defer("svg", "pdf", "png", "data").order_by("-pk"))
    told = permitted(study, viewer, {row.asked.get("labels", FINAL) for row in rows})
    return [
        row for row in rows if row.asked.get("other", study.slug) in mine and row.asked.get("labels", FINAL) in told
    ]


def drawn_among(study: Study, asked: Iterable[Asked]) -> dict[str, Drawing]:
    """By key, those of these figures that have a picture."""
    keys = [one.key for one in asked]
    rows = Drawing.objects.filter(study=study, key__in=keys, state=Drawing.State.DRAWN).defer("svg", "pdf", "png")
    return {row.key: row for row in rows}


def file_of(drawing: Drawing, format_: str) -> tuple[str, bytes]:
    """Content type and content, of the picture or of the numbers that it shows."""
    if format_ in PICTURES:
        content = {"svg": drawing.svg.encode(), "pdf": bytes(drawing.pdf), "png": bytes(drawing.png)}[format_]
        return PICTURES[format_], content
    if format_ not in FORMATS:
        raise BadInput(f"A figure comes as {', '.join([*PICTURES, *FORMATS])}, not as “{format_[:20]}”.")
    _, type_, write = FORMATS[format_]
    return type_, write(sheet_of(drawing.data or {}), asked_of(drawing)).encode()
