"""What a study hands out: one page, and the files."""

from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotator.accounts.models import User
from annotator.adjudication.names import nameless_bugs
from annotator.labeling.models import Round
from annotator.publication import side_by_side
from annotator.publication.exports import FORMATS, TABLES
from annotator.publication.formats import CSV
from annotator.publication.sending import mapping_response, table_response, wants_pseudonyms
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Study

SAYS = {
    "answers": "Every rater's answers: one row for each bug, round, rater and facet.",
    "finals": "The final labels: one row for each bug and facet, where each comes from and who decided.",
    "history": "All revisions of answers, the raters' moves after the close, and every decision.",
    "bugs": "The bugs: item, address, title, description, and the columns that sheets brought.",
    "side_by_side": "One row a bug: the raters beside each other, the final label and its source.",
}
LABELS = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}


@login_required
@require_GET
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    """All tables in all formats."""
    study = study_for(request.user, slug)
    hides = wants_pseudonyms(request)
    context = {
        "study": study,
        "tables": [row(study, name, hides=hides) for name in TABLES],
        "hides": hides,
        "has_bugs": Bug.objects.filter(study=study).exists(),
        "is_lead": "lead" in study.my_roles,
        "left_out": len(nameless_bugs(study, cast(User, request.user), study.my_roles)),
        "open_rounds": Round.objects.open().filter(study=study),
    }
    return render(request, "publication/exports.html", context)


def row(study: Study, name: str, *, hides: bool) -> dict[str, Any]:
    query = "?pseudonyms=1" if hides else ""
    files = [(LABELS[format_], reverse("publication:table", args=[study.slug, name, format_])) for format_ in FORMATS]
    files.append(("CSV for spreadsheets", reverse("publication:safe_table", args=[study.slug, name])))
    if name == side_by_side.NAME:
        files.append(("Mapping", reverse("publication:mapping", args=[study.slug])))
    return {"name": name, "says": SAYS[name], "files": [(label, url + query) for label, url in files]}


@login_required
@require_GET
def table(request: HttpRequest, slug: str, table: str, format_: str) -> HttpResponseBase:
    study = study_for(request.user, slug)
    return table_response(request, study, table=table, format_=format_)


@login_required
@require_GET
def safe_table(request: HttpRequest, slug: str, table: str) -> HttpResponseBase:
    study = study_for(request.user, slug)
    return table_response(request, study, table=table, format_=CSV, is_safe=True)


@login_required
@require_GET
def mapping(request: HttpRequest, slug: str) -> HttpResponse:
    return mapping_response(request, study_for(request.user, slug))
