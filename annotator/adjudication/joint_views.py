"""The form for a facet that is decided jointly."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.adjudication import forms, meeting_views, meetings, queue
from annotator.adjudication.jointly import decide_jointly, unlabelled
from annotator.adjudication.views import address, bug_in, facet_in, page
from annotator.studies.access import study_for
from annotator.studies.models import Role
from annotator.web.errors import BadInput


@login_required
@require_POST
def joint(request: Request, slug: str, number: int) -> HttpResponse:
    """The label that those who are ticked decided together; the answer is the next bug without one."""
    study = study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
    bug, facet = bug_in(study, number), facet_in(study, request.POST.get("facet", ""))
    live = meetings.live_meeting(study) if request.POST.get("back") == "meeting" else None
    names, decision = request.POST.getlist("participant"), forms.read(request.POST)
    try:
        decide_jointly(
            bug=bug,
            facet=facet,
            categories=forms.categories(facet, decision.other),
            participants=list(User.objects.filter(username__in=names)),
            seen_at=request.POST.get("seen_at", ""),
            note=decision.note,
            session=live,
            by=request.user,
        )
    except BadInput as problem:
        said = str(problem)
        if live:
            return meeting_views.page(
                request, study, live, number=number, facet=facet.key, decision=decision, problem=said
            )
        return page(request, study, bug, filters=queue.Filters(), facet=facet.key, decision=decision, problem=said)
    messages.success(request, f"{facet.name} of {bug} is decided jointly.")
    if live:
        return redirect(meeting_views.address(study, number))
    left = list(unlabelled(study, facet).values_list("number", flat=True))
    following = next((other for other in left if other > number), (left or [number])[0])
    return redirect(address(study, following, queue.Filters(), facet=facet.key))
