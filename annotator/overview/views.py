"""The study's home, its history, and the acts of a lead that cross stages."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.labeling.models import Round
from annotator.labeling.queries import progress, rates_in
from annotator.overview import home, past
from annotator.overview.rounds import choosing
from annotator.overview.rounds.closing import close_round
from annotator.overview.rounds.forms import RoundForm
from annotator.overview.rounds.opening import held_back_by, open_next_round
from annotator.overview.steps import steps
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role
from annotator.web.errors import BadInput


@login_required
@require_GET
def show(request: Request, slug: str) -> HttpResponse:
    """The pipeline, what waits for the viewer, the rounds, the raters, the latest events."""
    study = study_for(request.user, slug)
    viewer = home.Viewer(request.user, study.my_roles)
    lines = home.round_lines(study, viewer)
    context = {
        "study": study,
        "viewer": viewer,
        "strip": home.strip(study, lines, viewer),
        "steps": steps(study, lines, viewer),
        "lines": lines,
        "open_lines": [line for line in lines if line.round.is_open],
        "events": past.recent(study, request.user),
        "members_url": reverse("studies:members", args=[study.slug]),
    }
    return render(request, "overview/home.html", context)


@login_required
@require_GET
def history(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    actor = request.GET.get("by", "")
    events, after = past.page(study, request.user, after=past.Cursor.read(request.GET.get("after", "")), actor=actor)
    return render(request, "history/events.html", {"study": study, "events": events, "after": after, "by": actor})


@login_required
@require_http_methods(["GET", "POST"])
def new_round(request: Request, slug: str) -> HttpResponse:
    """Choose the bugs and the raters, fix the gate, and open the round."""
    study = study_for(request.user, slug, Role.LEAD)
    held = held_back_by(study)
    form = RoundForm(study, request.POST or None, held=held)
    if request.method == "POST" and form.is_valid():
        try:
            bugs = choosing.choose(study, form.wanted())
            opened = open_next_round(study=study, bugs=bugs, by=request.user, **form.options())
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"{opened.name} is open with {len(bugs)} bugs.")
            return redirect("labeling:round", study.slug, opened.number)
    context = {
        "study": study,
        "form": form,
        "held": held,
        "has_bugs": Bug.objects.filter(study=study).exists(),
        "members_url": reverse("studies:members", args=[study.slug]),
        "import_url": reverse("intake:upload", args=[study.slug]),
    }
    return render(request, "overview/new_round.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def close(request: Request, slug: str, number: int) -> HttpResponse:
    """Closing is final, so it is asked for on a page of its own."""
    study = study_for(request.user, slug, Role.LEAD)
    round_ = get_object_or_404(Round, study=study, number=number)
    if request.method == "POST":
        close_round(round_=round_, by=request.user)
        messages.success(request, f"{round_.name} is closed. Its agreement is counted and stands.")
        return redirect("agreement:round", study.slug, round_.number)
    told = progress(round_, viewer=request.user, is_lead=True)
    context = {
        "study": study,
        "round": round_,
        "rates": rates_in(round_, request.user),
        "progress": told,
        "left": sum(one.left for one in told),
        "skipped": sum(one.skipped for one in told),
    }
    return render(request, "overview/close_round.html", context)
