"""Label audits: asked for, and read by who rules on them."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.models import User
from annotator.analysis import doubts
from annotator.analysis.models import LabelAudit, Suspect
from annotator.codebook.models import Facet
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.wake import wake

TASK = "annotator.analysis.tasks.audit"
READERS = (Role.ADJUDICATOR, Role.LEAD)


@login_required
@require_http_methods(["GET", "POST"])
def audits(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, *READERS)
    if request.method == "POST":
        facet = get_object_or_404(Facet, codebook__study=study, key=request.POST.get("facet", ""))
        audit = doubts.ask_audit(study=study, facet=facet, by=cast(User, request.user))
        wake(TASK, audit.pk)
        return redirect("analysis:audit", slug=slug, number=audit.number)
    whys = {facet: doubts.not_yet(study, facet) for facet in auditable(study)}
    context = {
        "study": study,
        "audits": LabelAudit.objects.filter(study=study).select_related("facet").order_by("-number"),
        "facets": [facet for facet, why in whys.items() if not why],
        "not_yet": list(dict.fromkeys(why for why in whys.values() if why)),
    }
    return render(request, "analysis/audits.html", context)


def auditable(study: Study) -> list[Facet]:
    wanted = Facet.objects.filter(codebook__study=study, is_many=False, retired_at=None)
    return list(wanted.exclude(key=Facet.VERDICT))


@login_required
@require_GET
def audit(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, *READERS)
    held = get_object_or_404(LabelAudit.objects.select_related("facet"), study=study, number=number)
    mine = doubts.shown_to(cast(User, request.user), Suspect.objects.filter(audit=held))
    suspects = mine.select_related("bug__item__repository", "twin__item", "label", "likely", "ruled_by")
    context = {
        "study": study,
        "audit": held,
        "suspects": suspects,
        "waiting": sum(not each.ruling for each in suspects),
        "may_rule": Role.ADJUDICATOR in study.my_roles,
        "is_underway": held.state in doubts.BUSY,
    }
    return render(request, "analysis/audit.html", context)


@login_required
@require_POST
def rule(request: HttpRequest, slug: str, number: int, rank: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.ADJUDICATOR)
    mine = doubts.shown_to(cast(User, request.user), Suspect.objects.all())
    suspect = get_object_or_404(mine, audit__study=study, audit__number=number, rank=rank)
    sent = request.POST
    doubts.rule(suspect=suspect, ruling=sent.get("ruling", ""), note=sent.get("note", ""), by=cast(User, request.user))
    return redirect(f"{reverse('analysis:audit', args=[slug, number])}#suspect-{rank}")
