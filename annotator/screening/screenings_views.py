"""The stage's first page, opening a screening, one screening with its result, and the candidates behind each count."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.screening import actions, choosing, queries, results
from annotator.screening.forms import ScreeningForm
from annotator.screening.models import Criterion, Screening
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole

SHOWN = 4  # conflicts on a first look


def find(study: Study, number: int) -> Screening:
    rows = Screening.objects.select_related("study", "opened_by", "closed_by")
    return get_object_or_404(rows, study=study, number=number)


@login_required
@require_GET
def overview(request: Request, slug: str) -> HttpResponse:
    """Criteria, screenings, what became of the candidates, and what waits."""
    study = study_for(request.user, slug)
    is_lead = Role.LEAD in study.my_roles
    screenings = list(Screening.objects.filter(study=study).order_by("-number"))
    told = queries.progress_by_screening(screenings, viewer=request.user, is_lead=is_lead)
    counts = queries.counts(study)
    context: dict[str, Any] = {
        "study": study,
        "is_lead": is_lead,
        "lines": [(one, told[one.pk], _reads(one, told[one.pk], request)) for one in screenings],
        "next": next((one for one in screenings if one.is_open and _waits(told[one.pk], request)), None),
        "counts": counts,
        "criteria": Criterion.objects.active().filter(study=study),
        "conflicts": results.page_of(queries.candidates(study, "conflict")).lines[:SHOWN] if counts.conflict else (),
        "free": choosing.free(study).count(),
    }
    return render(request, "screening/overview.html", context)


def _reads(screening: Screening, told: list[queries.Progress], request: Request) -> bool:
    return any(one.reviewer == request.user for one in told)


def _waits(told: list[queries.Progress], request: Request) -> bool:
    return any(one.reviewer == request.user and one.left for one in told)


@login_required
@require_http_methods(["GET", "POST"])
def new(request: Request, slug: str) -> HttpResponse:
    """Open a screening; `harvest` in the address begins with what that one found."""
    study = study_for(request.user, slug, Role.LEAD)
    sent = request.POST if request.method == "POST" else None
    form = ScreeningForm(study, sent, initial={"harvest": request.GET.get("harvest", "")})
    if request.method == "POST" and form.is_valid():
        try:
            opened = actions.open_screening(study=study, by=request.user, **form.options())
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"{opened.name} is open: its reviewers can begin.")
            return redirect("screening:screening", slug, opened.number)
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "has_criteria": Criterion.objects.active().filter(study=study).exists(),
        "has_items": choosing.free(study).exists(),
    }
    return render(request, "screening/new.html", context, status=400 if form.errors else 200)


@login_required
@require_GET
def show(request: Request, slug: str, number: int) -> HttpResponse:
    """Progress while it is open, the result afterwards."""
    study = study_for(request.user, slug)
    screening, is_lead = find(study, number), Role.LEAD in study.my_roles
    told = queries.progress(screening, viewer=request.user, is_lead=is_lead)
    counts = queries.counts(study, screening)
    context: dict[str, Any] = {
        "study": study,
        "screening": screening,
        "is_lead": is_lead,
        "is_mine": _reads(screening, told, request),
        "waits": screening.is_open and _waits(told, request),
        "progress": told,
        "left": sum(one.left for one in told),
        "counts": counts,
        "reviewers": screening.reviewers.order_by("username"),
        "conflicts": results.page_of(results.conflicts(screening)).lines[:SHOWN] if counts.conflict else (),
    }
    return render(request, "screening/screening.html", context)


@login_required
@require_POST
def close(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    closed = actions.close(screening=find(study, number), by=request.user)
    messages.success(request, f"{closed.name} is closed: its votes stand.")
    return redirect("screening:screening", slug, number)


@login_required
@require_GET
def conflicts(request: Request, slug: str, number: int) -> HttpResponse:
    """What the rule left open, with who said what side by side."""
    study = study_for(request.user, slug)
    screening = find(study, number)
    found = results.page_of(results.conflicts(screening), after=request.GET.get("after", ""))
    people = screening.reviewers.order_by("username")
    context = {"study": study, "screening": screening, "found": found, "reviewers": people}
    return render(request, "screening/conflicts.html", context)


@login_required
@require_GET
def candidates(request: Request, slug: str) -> HttpResponse:
    """The candidates behind a count."""
    study = study_for(request.user, slug)
    what, reason = request.GET.get("what", "candidates"), request.GET.get("reason", "")
    if what not in results.WHAT:
        raise Http404("There is no such count.")
    number = whole(request.GET.get("screening", ""))
    screening = find(study, number) if number is not None else None
    found = results.listed(study, what, reason=reason, screening=screening, after=request.GET.get("after", ""))
    kept = {"what": what, "reason": reason, "screening": "" if number is None else str(number)}
    context = {
        "study": study,
        "found": found,
        "what": what,
        "reason": reason,
        "screening": screening,
        "kinds": [(key, label, urlencode(kept | {"what": key, "reason": ""})) for key, label in results.WHAT.items()],
        "next_url": f"?{urlencode(kept | {'after': found.next_after})}" if found.next_after else "",
    }
    return render(request, "screening/candidates.html", context)
