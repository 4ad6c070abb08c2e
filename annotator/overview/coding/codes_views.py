"""Proposed codes of a closed round: one form each, on the round's page."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotator.accounts.http import Request
from annotator.labeling.models import Round
from annotator.overview.coding.codes import Verdict, proposal_in, settle_code
from annotator.studies.access import study_for
from annotator.studies.models import Role


@login_required
@require_POST
def settle(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    round_ = get_object_or_404(Round, study=study, number=number)
    proposal = proposal_in(study, round_, request.POST.get("code", ""))
    if proposal is None:
        raise Http404("There is no such proposal.")
    names = ("act", "name", "into", "parent", "reason")
    verdict = Verdict(**{name: request.POST.get(name, "") for name in names})
    messages.success(request, settle_code(proposal=proposal, verdict=verdict, by=request.user))
    return redirect("labeling:round", study.slug, round_.number)
