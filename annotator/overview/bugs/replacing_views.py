"""The page on which a lead replaces what turned out to be no bug, in one step."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotator.accounts.http import Request
from annotator.overview.bugs import replacing
from annotator.studies.access import study_for
from annotator.studies.models import Role


@login_required
@require_http_methods(["GET", "POST"])
def replace(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    if request.method == "POST":
        left, made = replacing.replace_denied(study=study, by=request.user)
        came = ", ".join(str(one.came.number) for one in made)
        messages.success(request, f"{len(left)} left. {len(made)} replaced{': now bug ' + came if came else ''}.")
        return redirect("sampling:samples", study.slug)
    found = replacing.changes(study)
    context = {
        "study": study,
        "changes": found,
        "leaving": sum(len(change.leaving) for change in found),
        "coming": sum(len(change.replacements) for change in found),
    }
    return render(request, "overview/replace.html", context)
