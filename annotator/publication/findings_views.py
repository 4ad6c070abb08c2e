"""Findings: sentences with numbers that are counted when they are read."""

from typing import Any, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotator.accounts.models import User
from annotator.publication import findings as reading
from annotator.publication import stating
from annotator.publication.finding_form import FindingForm
from annotator.publication.models import Finding
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput


@login_required
@require_http_methods(["GET", "POST"])
def findings(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    form = FindingForm(study)
    if request.method == "POST":
        study_for(request.user, slug, Role.LEAD)
        form = FindingForm(study, request.POST)
        if form.is_valid():
            by = cast(User, request.user)
            try:
                stating.state(study=study, sentence=form.cleaned_data["sentence"], asked=form.asked(), by=by)
            except BadInput as problem:
                form.add_error(None, str(problem))
            else:
                return redirect("publication:findings", slug=slug)
    return shown(request, study, form)


def shown(request: HttpRequest, study: Study, form: forms.Form) -> HttpResponse:
    context: dict[str, Any] = {
        "study": study,
        "findings": reading.told_to(study, request.user),
        "words": reading.WORDS.items(),
        "form": form,
        "is_lead": Role.LEAD in study.my_roles,
    }
    return render(request, "publication/findings.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def finding(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Change one: a further version, with a reason."""
    study = study_for(request.user, slug, Role.LEAD)
    held = standing(study, number)
    form = FindingForm(study, request.POST or None, held=held)
    if request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        by = cast(User, request.user)
        try:
            stating.change(finding=held, sentence=sent["sentence"], asked=form.asked(), why=sent["why"], by=by)
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            return redirect("publication:findings", slug=slug)
    context = {"study": study, "finding": held, "form": form, "words": reading.WORDS.items()}
    return render(request, "publication/finding.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    why = request.POST.get("reason", "")
    stating.withdraw(finding=standing(study, number), why=why, by=cast(User, request.user))
    return redirect("publication:findings", slug=slug)


def standing(study: Study, number: int) -> Finding:
    return get_object_or_404(Finding, study=study, number=number, is_current=True, withdrawn_at=None)
