"""Harvests: started, watched, stopped, looked through again. Everybody in the study may look; leads act."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.clients.github.windows import Count
from annotator.collection import actions, asking
from annotator.collection.access import hosts
from annotator.collection.bar import parts_of
from annotator.collection.forms import HarvestForm, ScheduleForm, as_sent
from annotator.collection.models import GitHubToken, Harvest
from annotator.collection.previewing import count_hits
from annotator.collection.progress import UNDERWAY, Progress, progress_of, sums_of
from annotator.collection.saying import in_words, reason_in_words
from annotator.collection.wanted import from_document
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole
from annotator.web.wake import wake

PAGE = 50
TASK = "annotator.collection.tasks.harvest"
TURNS = {"pause": actions.pause, "resume": actions.resume, "cancel": actions.cancel, "again": asking.look_again}
WAKING = ("resume", "again")


def find(request: Request, slug: str, number: int, *roles: str) -> tuple[Study, Harvest]:
    study = study_for(request.user, slug, *roles)
    rows = Harvest.objects.select_related("study", "created_by")
    return study, get_object_or_404(rows, study=study, number=number)


def is_lead(study: Study) -> bool:
    return Role.LEAD in study.my_roles


# --- the list


@login_required
@require_GET
def list_harvests(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    rows = Harvest.objects.filter(study=study).select_related("created_by").order_by("-number")
    before = whole(request.GET.get("before", ""))
    found = list((rows.filter(number__lt=before) if before else rows)[: PAGE + 1])
    sums = sums_of(found[:PAGE])
    context = {
        "study": study,
        "is_lead": is_lead(study),
        "lines": [
            (row, in_words(from_document(row.query), row.host), sums[row.pk], statement(row, sums[row.pk].missing))
            for row in found[:PAGE]
        ],
        "next_url": f"?before={found[PAGE - 1].number}" if len(found) > PAGE else "",
    }
    return render(request, "collection/harvests.html", context)


def statement(harvest: Harvest, missing: int) -> tuple[str, str]:
    """Its state as a chip: kind and words."""
    states = Harvest.State
    if harvest.state == states.DONE:
        return ("warn", f"complete but for {missing:,}") if missing else ("good", "complete")
    if harvest.state == states.WAITING:
        return "acc", "waiting" if harvest.wake_at else "waiting for a worker"
    return {states.RUNNING: "acc", states.PAUSED: "warn", states.FAILED: "bad"}.get(
        states(harvest.state), "o"
    ), harvest.get_state_display().lower()


# --- a new one


@login_required
@require_http_methods(["GET", "POST"])
def new_harvest(request: Request, slug: str) -> HttpResponse:
    """Posting previews, counts on GitHub, or starts, by the button."""
    study = study_for(request.user, slug, Role.LEAD)
    if request.method == "GET":
        return new_page(request, study, HarvestForm(initial=like(study, request.GET.get("like", ""))))
    form, act = HarvestForm(request.POST), request.POST.get("act", "start")
    if not form.is_valid():
        return new_page(request, study, form)
    try:
        wanted, host = form.wanted()
        if act == "start":
            days = form.cleaned_data["refresh_days"]
            harvest = asking.ask(study=study, wanted=wanted, host=host, by=request.user, refresh_days=days)
            wake(TASK, harvest.pk, queue="mining")
            return redirect("collection:harvest", slug, harvest.number)
        counted = count_hits(study=study, wanted=wanted, host=host) if act == "count" else None
    except BadInput as problem:
        form.add_error(None, str(problem))
        return new_page(request, study, form)
    return new_page(request, study, form, preview=in_words(wanted, host), counted=counted, has_words=bool(wanted.words))


def like(study: Study, number: str) -> dict[str, Any]:
    """Filled in as for a harvest that is there."""
    harvest = Harvest.objects.filter(study=study, number=whole(number) or 0).first()
    return as_sent(harvest) if harvest else {}


def new_page(
    request: Request,
    study: Study,
    form: HarvestForm,
    *,
    preview: str = "",
    counted: Count | None = None,
    has_words: bool = False,
) -> HttpResponse:
    context = {
        "study": study,
        "form": form,
        "preview": preview,
        "counted": counted,
        "has_words": has_words,
        "has_hosts": len(hosts()) > 1,
        "has_tokens": GitHubToken.objects.present(study).exists(),
    }
    template = "collection/_preview.html" if request.htmx else "collection/new_harvest.html"
    return render(request, template, context, status=422 if form.errors else 200)


# --- one of them


@login_required
@require_GET
def show(request: Request, slug: str, number: int) -> HttpResponse:
    study, harvest = find(request, slug, number)
    context = live_context(study, progress_of(harvest)) | {
        "schedule": ScheduleForm(initial={"days": harvest.refresh_days}),
        "may_look_again": harvest.state == Harvest.State.DONE,
        "may_pause": harvest.state in UNDERWAY,
        "may_resume": harvest.state in (Harvest.State.PAUSED, Harvest.State.FAILED),
        "stop_fields": [("act", "cancel")],
        "may_stop": harvest.state not in (Harvest.State.DONE, Harvest.State.CANCELLED),
    }
    return render(request, "collection/harvest.html", context)


@login_required
@require_GET
def progress(request: Request, slug: str, number: int) -> HttpResponse:
    """A fragment; where the state is no longer the one that the page shows, the whole page is fetched anew."""
    study, harvest = find(request, slug, number)
    response = render(request, "collection/_live.html", live_context(study, progress_of(harvest)))
    if request.GET.get("state") != harvest.state:
        response["HX-Refresh"] = "true"
    return response


def live_context(study: Study, found: Progress) -> dict[str, Any]:
    wanted = from_document(found.harvest.query)
    return {
        "study": study,
        "harvest": found.harvest,
        "is_lead": is_lead(study),
        "wanted": wanted,
        "words": in_words(wanted, found.harvest.host),
        "progress": found,
        "parts": parts_of(found),
        "chip": statement(found.harvest, found.sum.missing),
        "unavailable": told(found.unavailable),
        "passed_over": told(found.passed_over),
    }


def told(reasons: tuple[tuple[str, int], ...]) -> list[tuple[str, str, int]]:
    return [(reason, reason_in_words(reason), count) for reason, count in reasons]


@login_required
@require_POST
def turn(request: Request, slug: str, number: int) -> HttpResponse:
    """Pause, resume, cancel, look again: what `act` says."""
    _, harvest = find(request, slug, number, Role.LEAD)
    act = request.POST.get("act", "")
    if act not in TURNS:
        raise BadInput("Say what to do: pause, resume, cancel or again.")
    TURNS[act](harvest=harvest, by=request.user)
    if act in WAKING:
        wake(TASK, harvest.pk, queue="mining")
    return redirect("collection:harvest", slug, number)


@login_required
@require_POST
def schedule(request: Request, slug: str, number: int) -> HttpResponse:
    _, harvest = find(request, slug, number, Role.LEAD)
    form = ScheduleForm(request.POST)
    if not form.is_valid():
        raise BadInput(f"Look again after 1 to {asking.LONGEST_DAYS} days, or leave it empty.")
    days = form.cleaned_data["days"]
    asking.schedule(harvest=harvest, days=days, by=request.user)
    messages.success(request, f"It is looked at again every {days} days." if days else "It is no longer scheduled.")
    return redirect("collection:harvest", slug, number)


@login_required
@require_POST
def allow_sampling(request: Request, slug: str, number: int) -> HttpResponse:
    """Why bugs may be drawn from it though it is not complete."""
    _, harvest = find(request, slug, number, Role.LEAD)
    actions.allow_sampling(harvest=harvest, reason=request.POST.get("reason", ""), by=request.user)
    messages.success(request, "The reason stands beside the harvest; it may be sampled.")
    return redirect("collection:harvest", slug, number)
