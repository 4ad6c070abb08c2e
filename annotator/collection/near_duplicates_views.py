"""Near-duplicates: looked for by a lead, read by everybody in the study."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.collection import near_duplicates
from annotator.collection.models import Comparison
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole
from annotator.web.wake import wake

TASK = "annotator.collection.tasks.compare"


@login_required
@require_http_methods(["GET", "POST"])
def newest(request: Request, slug: str) -> HttpResponse:
    """The newest comparison; POST asks for another."""
    if request.method == "POST":
        study = study_for(request.user, slug, Role.LEAD)
        asked = near_duplicates.ask(study=study, threshold=threshold_in(request), by=request.user)
        wake(TASK, asked.pk)
        return redirect("collection:near_duplicates", study.slug)
    study = study_for(request.user, slug)
    return shown(request, study, near_duplicates.latest(study))


@login_required
@require_GET
def earlier(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug)
    return shown(request, study, get_object_or_404(Comparison, study=study, number=number))


def threshold_in(request: Request) -> float:
    try:
        return float(request.POST.get("threshold", "").strip().replace(",", "."))
    except ValueError:
        raise BadInput("Give the similarity as a number, such as 0.7.") from None


def shown(request: Request, study: Study, comparison: Comparison | None) -> HttpResponse:
    is_done = comparison is not None and comparison.state == Comparison.State.DONE
    start = whole(request.GET.get("after", "")) or 0
    page = near_duplicates.page_of(comparison, start) if comparison and is_done else None
    others = Comparison.objects.filter(study=study).exclude(pk=comparison.pk if comparison else 0)
    context = {
        "study": study,
        "comparison": comparison,
        "is_underway": comparison is not None and comparison.state in near_duplicates.UNDERWAY,
        "is_lead": Role.LEAD in study.my_roles,
        "page": page,
        "others": others.order_by("-number"),
        "threshold": comparison.threshold if comparison else near_duplicates.USUAL,
        "least": near_duplicates.LEAST,
        "next_url": f"?after={page.after}" if page and page.after else "",
        "previous_url": f"?after={page.before}" if page and page.before is not None else "",
    }
    template = "collection/_near_duplicates.html" if request.htmx else "collection/near_duplicates.html"
    return render(request, template, context)
