"""The criteria of a study: read by all, written by leads."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.screening import criteria
from annotator.screening.forms import CriterionForm
from annotator.screening.models import Criterion
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput


@login_required
@require_http_methods(["GET", "POST"])
def show(request: Request, slug: str) -> HttpResponse:
    """The rules; a lead adds one by posting here."""
    roles = (Role.LEAD,) if request.method == "POST" else ()
    study = study_for(request.user, slug, *roles)
    sent = request.POST if request.method == "POST" else None
    form = CriterionForm(study, sent) if Role.LEAD in study.my_roles else None
    if request.method == "POST" and form is not None and form.is_valid():
        try:
            written = criteria.write(study=study, by=request.user, **form.options())
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"{written.code} is written.")
            return redirect("screening:criteria", slug)
    context: dict[str, Any] = {
        "study": study,
        "criteria": Criterion.objects.filter(study=study),
        "form": form,
        "is_lead": form is not None,
        "has_opened": criteria.has_opened(study),
    }
    return render(request, "screening/criteria.html", context, status=400 if form and form.errors else 200)


def named(study: Study, code: str) -> Criterion:
    found = next((one for one in Criterion.objects.filter(study=study) if one.code == code.upper()), None)
    if found is None:
        raise Http404("There is no such criterion.")
    return found


@login_required
@require_POST
def change(request: Request, slug: str, key: str) -> HttpResponse:
    """Reword, retire or remove one; its code stands in the address."""
    study = study_for(request.user, slug, Role.LEAD)
    criterion, act, sent = named(study, key), request.POST.get("act", ""), request.POST
    if act == "reword":
        fields = {name: sent.get(name, "") for name in ("name", "text", "hotkey")}
        criteria.reword(criterion=criterion, by=request.user, **fields)
        messages.success(request, f"{criterion.code} is changed.")
    elif act == "retire":
        criteria.retire(criterion=criterion, reason=sent.get("reason", ""), by=request.user)
        messages.success(request, f"{criterion.code} is retired. Votes that cite it stay.")
    elif act == "remove":
        criteria.remove(criterion=criterion, by=request.user)
        messages.success(request, f"{criterion.code} is removed.")
    else:
        raise BadInput("The page sent an act that is not known. Load it again.")
    return redirect("screening:criteria", slug)
