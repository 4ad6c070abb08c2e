"""How often each category is a settled label: shown beside the codebook, never from an open round."""

from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.adjudication.queries import final_labels
from annotator.studies.access import study_for


@login_required
@require_GET
def codebook_uses(request: Request, slug: str) -> HttpResponse:
    """A fragment that htmx lays into the codebook's tree, of the facet that is open there. Final labels come into being when a round closes."""
    study = study_for(request.user, slug)
    labels = final_labels(study).filter(facet__key=request.GET.get("facet", ""))
    rows = labels.order_by().values_list("label_uid").annotate(n=Count("pk")).order_by("label_uid")
    return render(request, "codebook/_uses.html", {"uses": list(rows)})
