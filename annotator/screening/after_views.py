"""A candidate after its screening closed: who said what, and what is decided."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.collection.source import source_of
from annotator.screening import after, results
from annotator.screening.models import Candidate, Criterion, Screening
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study


def show(request: Request, study: Study, screening: Screening, position: int) -> HttpResponse:
    """Votes side by side, the decision, and what may be done about it."""
    line = results.line_of(screening, position)
    if line is None:
        raise Http404("There is no such candidate.")
    next_conflict = results.conflict_after(screening, position)
    here = reverse("screening:candidate", args=[study.slug, screening.number, position])
    context: dict[str, Any] = {
        "study": study,
        "screening": screening,
        "line": line,
        "source": source_of(line.candidate.item),
        "bug_url": here,
        "earlier": results.earlier_outcomes(line.candidate),
        "criteria": list(Criterion.objects.active().filter(study=study)),
        "is_lead": Role.LEAD in study.my_roles,
        "votes_again": line.outcome is None and any(one.reviewer == request.user for one in line.said),
        "people": User.objects.filter(memberships__study=study).distinct().order_by("username"),
        "taking_part": {one.reviewer.username for one in line.said},
        "next_url": reverse("screening:candidate", args=[study.slug, screening.number, next_conflict])
        if next_conflict
        else "",
    }
    return render(request, "screening/candidate.html", context)


def found(request: Request, slug: str, number: int, candidate: int, *roles: str) -> tuple[Study, Candidate]:
    study = study_for(request.user, slug, *roles)
    rows = Candidate.objects.filter(screening__study=study, screening__number=number)
    return study, get_object_or_404(rows.select_related("screening", "item"), position=candidate)


def on(request: Request, study: Study, candidate: Candidate) -> HttpResponse:
    """To the next conflict when this one is settled, else back."""
    line = results.line_of(candidate.screening, candidate.position)
    is_settled = line is not None and line.outcome is not None
    further = results.conflict_after(candidate.screening, candidate.position) if is_settled else candidate.position
    if further is None:
        messages.success(request, "No conflict is left in this screening.")
        return redirect("screening:screening", study.slug, candidate.screening.number)
    return redirect("screening:candidate", study.slug, candidate.screening.number, further)


@login_required
@require_POST
def vote_again(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    """A reviewer's second look, after the close."""
    study, held = found(request, slug, number, candidate)
    decision, _, code = request.POST.get("act", "").partition(":")
    after.vote_again(
        candidate=held, decision=decision, criterion=code, comment=request.POST.get("comment", ""), by=request.user
    )
    return on(request, study, held)


@login_required
@require_POST
def decide(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    """A lead writes down what was decided, and by whom together."""
    study, held = found(request, slug, number, candidate, Role.LEAD)
    decision, _, code = request.POST.get("decision", "").partition(":")
    after.decide(
        candidate=held,
        decision=decision,
        criterion=code,
        note=request.POST.get("note", ""),
        participants=request.POST.getlist("participant"),
        by=request.user,
    )
    return on(request, study, held)


@login_required
@require_POST
def reopen(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    study, held = found(request, slug, number, candidate, Role.LEAD)
    after.reopen(candidate=held, reason=request.POST.get("reason", ""), by=request.user)
    messages.success(request, "The decision is taken back: the candidate is open again.")
    return redirect("screening:candidate", study.slug, number, candidate)


@login_required
@require_POST
def drop(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    study, held = found(request, slug, number, candidate, Role.LEAD)
    after.drop(
        candidate=held,
        criterion=request.POST.get("criterion", ""),
        reason=request.POST.get("reason", ""),
        by=request.user,
    )
    messages.success(request, "The candidate is dropped: counted apart from what screening kept out.")
    return redirect("screening:candidate", study.slug, number, candidate)
