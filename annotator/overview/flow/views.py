"""The flow from found to released: the page, and its files."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.overview.flow import drawing, files
from annotator.overview.flow.counting import flow_of
from annotator.studies.access import study_for


@login_required
@require_GET
def show(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    flow = flow_of(study)
    context = {
        "study": study,
        "flow": flow,
        "wide": drawing.drawing_of(flow),
        "narrow": drawing.drawing_of(flow, drawing.NARROW),
    }
    return render(request, "overview/flow.html", context)


@login_required
@require_GET
def svg(request: Request, slug: str) -> HttpResponse:
    return file(request, slug, files.SVG)


@login_required
@require_GET
def document(request: Request, slug: str) -> HttpResponse:
    return file(request, slug, files.JSON)


@login_required
@require_GET
def pdf(request: Request, slug: str) -> HttpResponse:
    return file(request, slug, files.PDF)


def file(request: Request, slug: str, format_: str) -> HttpResponse:
    """The file; while a worker draws it, a page that asks again by itself."""
    study = study_for(request.user, slug)
    ready = files.sent(study, format_)
    if ready is not None:
        return ready
    page = render(request, "overview/flow_drawing.html", {"study": study})
    page.headers["Refresh"] = str(files.AGAIN_AFTER)
    return page
