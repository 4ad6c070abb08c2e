"""How the study was done, in sentences, and what reviewers ask for."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotator.publication.checklist import RECORDED, checklist
from annotator.publication.methods import Part, markdown, parts_of
from annotator.publication.names import shown_to
from annotator.studies.access import study_for
from annotator.studies.models import Study


def read(request: HttpRequest, slug: str) -> tuple[Study, list[Part]]:
    study = study_for(request.user, slug)
    return study, parts_of(study, shown_to(study, request.user))


@login_required
@require_GET
def methods(request: HttpRequest, slug: str) -> HttpResponse:
    study, parts = read(request, slug)
    items = checklist(parts)
    recorded = sum(item["state"] == RECORDED for item in items)
    context = {"study": study, "parts": parts, "checklist": items, "recorded": recorded}
    return render(request, "publication/methods.html", context)


@login_required
@require_GET
def methods_file(request: HttpRequest, slug: str) -> HttpResponse:
    study, parts = read(request, slug)
    headers = {"Content-Disposition": f'attachment; filename="{study.slug}-methods.md"'}
    text = markdown([part.document() for part in parts])
    return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=headers)
