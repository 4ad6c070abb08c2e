"""The flow as files. SVG and JSON are made at once; PDF by a worker, kept by the digest of what it is made from."""

import hashlib
import logging
from typing import cast

from django.core.cache import cache
from django.http import HttpResponse

from annotator.overview.flow.counting import Flow, flow_of
from annotator.overview.flow.drawing import svg_of
from annotator.studies.models import Study
from annotator.web.wake import wake

logger = logging.getLogger(__name__)
SVG, PDF, JSON = "svg", "pdf", "json"
TYPES = {SVG: "image/svg+xml", PDF: "application/pdf", JSON: "application/json"}
KEPT = 30 * 24 * 3600  # seconds
AGAIN_AFTER = 3  # seconds


def sent(study: Study, format_: str) -> HttpResponse | None:
    """The file: the same bytes for the same counts. None while a worker draws the PDF."""
    flow = flow_of(study)
    body = held_pdf(study, flow) if format_ == PDF else made(study, flow, format_)
    if body is None:
        return None
    headers = {"Content-Disposition": f'attachment; filename="{study.slug}-flow.{format_}"'}
    return HttpResponse(body, content_type=TYPES[format_], headers=headers)


def made(study: Study, flow: Flow, format_: str) -> bytes:
    text = flow.text() if format_ == JSON else svg_of(flow, title=study.title)
    return text.encode()


def held_pdf(study: Study, flow: Flow) -> bytes | None:
    """The PDF of just these counts; where it is not there yet, a worker is woken to draw it."""
    try:
        found = cast(bytes | None, cache.get(key_of(svg_of(flow, title=study.title))))
    except Exception as problem:  # whatever the cache's client raises: it is drawn later
        logger.warning("the cache gave no picture: %s", problem)
        found = None
    if found is None:
        wake("annotator.overview.tasks.draw_flow", study.pk)
    return found


def keep_pdf(svg: str, pdf: bytes) -> None:
    cache.set(key_of(svg), pdf, KEPT)


def key_of(svg: str) -> str:
    return f"flow:{hashlib.sha256(svg.encode()).hexdigest()}"
