"""Samples: the list, a new one with its preview, one with its places, and how bugs leave and come back."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.sampling import actions, listing, queries
from annotator.sampling.again import draw_again
from annotator.sampling.forms import LeaveForm, ReasonForm, SampleForm, TakeForm, asked_for
from annotator.sampling.models import Bug, Sample, TopUp
from annotator.sampling.planning import preview
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput, Refused
from annotator.web.numbers import whole

LATEST = 20


@login_required
@require_GET
def samples(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    context = {
        "study": study,
        "is_lead": Role.LEAD in study.my_roles,
        "lines": queries.lines(listing.samples(study)),
        "bugs": Bug.objects.filter(study=study).staying().count(),
        "left": Bug.objects.filter(study=study).exclude(left_at=None).count(),
    }
    return render(request, "sampling/samples.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new(request: Request, slug: str) -> HttpResponse:
    """Choose pool and rule, see what comes of it, and draw."""
    study = study_for(request.user, slug, Role.LEAD)
    if request.method == "POST":
        form = SampleForm(study, request.POST)
        if form.is_valid() and (drawn := _draw(request, study, form)):
            return redirect("sampling:sample", study.slug, drawn.number)
    else:
        form = asked_for(study, request.GET) if request.GET else SampleForm(study)
    context = {"study": study, "form": form, **_preview(study, form)}
    if request.htmx and request.method == "GET":
        return render(request, "sampling/_preview.html", context)
    return render(request, "sampling/new.html", context, status=422 if request.method == "POST" else 200)


def _draw(request: Request, study: Study, form: SampleForm) -> Sample | None:
    """The sample; or none, and the form says why."""
    data = form.cleaned_data
    try:
        drawn = actions.draw_sample(
            study=study,
            name=data["name"],
            rule=form.rule(),
            seed=data["seed"],
            override_reason=data["override_reason"],
            by=request.user,
        )
    except (BadInput, Refused) as problem:
        form.add_error(None, str(problem))
        return None
    messages.success(request, f"{drawn.name} is drawn: {drawn.pool_size:,} items in order. Nothing is taken up yet.")
    return drawn


def _preview(study: Study, form: SampleForm) -> dict[str, Any]:
    """What the draw would give as the form stands, or why it would give nothing."""
    asked = form if form.is_bound else asked_for(study, QueryDict())
    if not asked.is_valid() and set(asked.errors) - {"name", "__all__"}:
        return {"problem": "; ".join(str(error) for errors in asked.errors.values() for error in errors)}
    try:
        return {"preview": preview(study, asked.rule(), asked.cleaned_data["seed"])}
    except (BadInput, Refused) as problem:
        return {"problem": str(problem)}


# --- one sample


def _find(study: Study, number: int) -> Sample:
    return get_object_or_404(Sample.objects.select_related("study", "drawn_by"), study=study, number=number)


@login_required
@require_GET
def sample(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug)
    found = _find(study, number)
    parts = queries.parts(found)
    filters = listing.Filters(request.GET.get("stratum", ""), request.GET.get("state", ""))
    page = listing.page(found, filters, after=whole(request.GET.get("after", "")) or 0)
    top_ups = TopUp.objects.filter(sample=found).select_related("left", "came", "by").order_by("-pk")
    context = {
        "study": study,
        "sample": found,
        "rule": listing.rule_of(found),
        "parts": parts,
        "total": queries.total(parts),
        "short": sum(part.short for part in parts),
        "to_replace": sum(part.to_replace for part in parts),
        "is_lead": Role.LEAD in study.my_roles,
        "smallest": listing.smallest_to_read(found, parts),
        "filters": filters,
        "states": listing.STATES,
        "page": page,
        "next_url": _turned(request.GET, page.next_after),
        "top_ups": top_ups[:LATEST],
        "top_ups_count": top_ups.count(),
    }
    return render(request, "sampling/sample.html", context)


def _turned(sent: QueryDict, after: int | None) -> str:
    if after is None:
        return ""
    turned = sent.copy()
    turned["after"] = str(after)
    return f"?{turned.urlencode()}"


@login_required
@require_GET
def again(request: Request, slug: str, number: int) -> HttpResponse:
    """Draw once more, store nothing, and compare."""
    study = study_for(request.user, slug)
    found = _find(study, number)
    return render(
        request,
        "sampling/again.html",
        {"study": study, "sample": found, "rule": listing.rule_of(found), "again": draw_again(found)},
    )


@login_required
@require_POST
def take_up(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    found, form = _find(study, number), TakeForm(request.POST)
    if not form.is_valid():
        raise BadInput("Say how many to take up as a whole number, or leave it empty for all that are wanted.")
    stratum = form.cleaned_data["stratum"] or None
    bugs = actions.take_up(sample=found, stratum=stratum, most=form.cleaned_data["most"], by=request.user)
    messages.success(request, f"{_bugs(len(bugs))} taken up: bug {bugs[0].number} to {bugs[-1].number}.")
    return redirect("sampling:sample", study.slug, found.number)


@login_required
@require_POST
def top_up(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    found = _find(study, number)
    rows = actions.top_up(sample=found, by=request.user)
    messages.success(request, f"{_bugs(len(rows))} replaced: bug {rows[0].came.number} to {rows[-1].came.number} came.")
    return redirect("sampling:sample", study.slug, found.number)


def _bugs(count: int) -> str:
    return f"{count:,} bug{'' if count == 1 else 's'}"


# --- bugs that leave


@login_required
@require_http_methods(["GET", "POST"])
def leave(request: Request, slug: str, bug: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    found = get_object_or_404(Bug.objects.select_related("item__repository"), study=study, number=bug)
    form = LeaveForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.leave(bugs=[found], by=request.user, **form.cleaned_data)
        except BadInput as problem:
            form.add_error("note", str(problem))
        else:
            messages.success(request, f"Bug {found.number} has left. Its answers and labels stay on record.")
            return redirect("bugs:bug", study.slug, found.number)
    top_up = TopUp.objects.filter(left=found).select_related("came").first()
    context = {"study": study, "bug": found, "form": form, "top_up": top_up, "sample": listing.sample_of(found)}
    return render(request, "sampling/leave.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def come_back(request: Request, slug: str, bug: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    found, form = get_object_or_404(Bug, study=study, number=bug), ReasonForm(request.POST)
    if not form.is_valid():
        raise BadInput("Write why the bug comes back.")
    actions.come_back(bug=found, reason=form.cleaned_data["reason"], by=request.user)
    messages.success(request, f"Bug {found.number} is one of the study’s again.")
    return redirect("bugs:bug", study.slug, found.number)
