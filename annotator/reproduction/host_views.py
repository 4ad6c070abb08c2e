"""Machines that run the study's recipes: for leads."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.reproduction import queries, waking
from annotator.reproduction.forms import HostForm
from annotator.reproduction.hosts import add_host, remove_host, void_runs
from annotator.reproduction.matching import Can
from annotator.reproduction.models import Host, Run
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput

State = Run.State


@login_required
@require_http_methods(["GET", "POST"])
def hosts(request: Request, slug: str) -> HttpResponse:
    """The hosts; posting adds one, and the answer shows its key, this once."""
    study = study_for(request.user, slug, Role.LEAD)
    form = HostForm(request.POST if request.method == "POST" else None)
    added, secret = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            added, secret = add_host(study=study, by=request.user, **form.cleaned_data)
            form = HostForm()
        except BadInput as problem:
            form.add_error("name", str(problem))
    context = {
        "study": study,
        "form": form,
        "added": added,
        "secret": secret,
        "platform": request.build_absolute_uri("/"),
        "lines": lines_of(study),
        "for_gpu": queries.runs_visible_to(study, request.user, study.my_roles)
        .filter(state=State.WAITING, queue=Run.Queue.GPU)
        .count(),
    }
    return render(request, "reproduction/hosts.html", context, status=422 if form.errors else 200)


def lines_of(study: Study) -> list[tuple[Host, Can, str]]:
    """Each host with what it last said that it can do, and whether it is here."""
    counts = {
        "ended": Count("runs", filter=Q(runs__state=State.ENDED, runs__voided_at=None)),
        "running": Count("runs", filter=Q(runs__state=State.RUNNING)),
        "void": Count("runs", filter=Q(runs__voided_at__isnull=False)),
    }
    rows = Host.objects.present().filter(study=study).select_related("token", "added_by").annotate(**counts)
    return [(host, Can.of(host.can), state_of(host)) for host in rows.order_by("name")]


def state_of(host: Host) -> str:
    if host.seen_at is None:
        return "not heard of yet"
    return "here" if queries.is_present(host) else "away"


def host_in(request: Request, slug: str, name: str) -> Host:
    study = study_for(request.user, slug, Role.LEAD)
    return get_object_or_404(Host.objects.present().select_related("token"), study=study, name=name)


@login_required
@require_POST
def void(request: Request, slug: str, name: str) -> HttpResponse:
    """All its runs, with the reason."""
    host = host_in(request, slug, name)
    taken = list(Run.objects.filter(host=host, state=State.RUNNING).values_list("pk", flat=True))
    count = void_runs(host=host, why=request.POST.get("reason", ""), by=request.user)
    waking.wake_runs(Run.objects.filter(pk__in=taken, state=State.WAITING))
    messages.success(request, f"{count} run{'' if count == 1 else 's'} of {host.name} count no longer.")
    return redirect("reproduction:hosts", slug)


@login_required
@require_POST
def remove(request: Request, slug: str, name: str) -> HttpResponse:
    host = host_in(request, slug, name)
    remove_host(host=host, by=request.user)
    messages.success(request, f"{host.name} is removed: its key opens nothing any more.")
    return redirect("reproduction:hosts", slug)
