"""Runs: asked for, tried again, cancelled; and one of them with its log, live while it goes on."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotator.accounts.http import Request
from annotator.reproduction import actions, outputs, queries, waking
from annotator.reproduction.finding import may_write, recipe_in, run_in, series_in
from annotator.reproduction.models import Run
from annotator.reproduction.wording import contained_by, duration, memory, run_chip
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.numbers import whole

UNDERWAY = (Run.State.WAITING, Run.State.RUNNING)


# --- series


@login_required
@require_POST
def ask(request: Request, slug: str, number: int) -> HttpResponse:
    """Have every environment run as often as the recipe says."""
    study = study_for(request.user, slug, *queries.WRITERS)
    recipe = recipe_in(study, request.user, number)
    series = actions.ask(recipe=recipe, by=request.user, runner=request.POST.get("runner", ""))
    waking.wake_series(series)
    messages.success(request, f"{series.runs.count()} runs are asked for.")
    return redirect("reproduction:recipe", slug, number)


@login_required
@require_POST
def retry(request: Request, slug: str, number: int, version: int, series: int) -> HttpResponse:
    study = study_for(request.user, slug, *queries.WRITERS)
    row = series_in(recipe_in(study, request.user, number), version, series)
    made = actions.retry_faults(series=row, by=request.user)
    waking.wake_runs(made)
    messages.success(request, f"{len(made)} run{'' if len(made) == 1 else 's'} tried again, with the same seeds.")
    return redirect("reproduction:series", slug, number, version, series)


@login_required
@require_POST
def cancel_series(request: Request, slug: str, number: int, version: int, series: int) -> HttpResponse:
    study = study_for(request.user, slug, *queries.WRITERS)
    row = series_in(recipe_in(study, request.user, number), version, series)
    count = actions.cancel_series(series=row, by=request.user)
    messages.success(request, f"{count} run{'' if count == 1 else 's'} cancelled.")
    return redirect("reproduction:series", slug, number, version, series)


@login_required
@require_POST
def cancel(request: Request, slug: str, key: str) -> HttpResponse:
    study = study_for(request.user, slug, *queries.WRITERS)
    run = run_in(study, request.user, key)
    actions.cancel_run(run=run, by=request.user)
    messages.success(request, "The run is cancelled.")
    return redirect("reproduction:run", slug, key)


# --- one run


@login_required
@require_GET
def show(request: Request, slug: str, key: str) -> HttpResponse:
    """The whole log, searched, and what went in. htmx asks for the last lines of it, or for what a search finds."""
    study = study_for(request.user, slug)
    run = run_in(study, request.user, key)
    if request.htmx and "q" not in request.GET:
        return render(request, "reproduction/_log.html", log_context(study, run))
    words, stream = request.GET.get("q", "")[:200], request.GET.get("stream", "")
    stream = stream if stream in dict(outputs.STREAMS) else ""
    every = outputs.whole(run, stream)
    found = outputs.numbered(every, words)
    context = log_context(study, run) | {
        "words": words,
        "contained_by": contained_by(run.measures.get("runner", "")),
        "stream": stream,
        "streams": outputs.STREAMS,
        "total": len(every),
        "found": [(line, outputs.parts(line.text, words)) for line in found],
        "is_cut": not words and len(every) > len(found),
    }
    return render(request, "reproduction/_found.html" if request.htmx else "reproduction/run.html", context)


@login_required
@require_GET
def log(request: Request, slug: str, key: str) -> HttpResponse:
    """What was written since, for a page that follows the run; the whole box once its state or attempt is another."""
    study = study_for(request.user, slug)
    run = run_in(study, request.user, key)
    sent = request.GET
    after, is_same = whole(sent.get("after", "")), sent.get("attempt") == str(run.attempt)
    if run.state != Run.State.RUNNING or not is_same:
        response = render(request, "reproduction/_log.html", log_context(study, run))
        response["HX-Retarget"], response["HX-Reswap"] = "#log", "outerHTML"
        return response
    pieces = queries.log_after(run, -1 if after is None else after)
    lines = outputs.lines_of(pieces, begins=sent.get("mid") != "1")
    last = pieces[-1].sequence if pieces else after
    is_mid = not lines[-1].ends if lines else sent.get("mid") == "1"
    return HttpResponse(outputs.markup(lines, follow_url(study, run, after=last, is_mid=is_mid)))


@login_required
@require_GET
def output(request: Request, slug: str, key: str) -> HttpResponse:
    study = study_for(request.user, slug)
    run = run_in(study, request.user, key)
    response = HttpResponse(outputs.text_of(run), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.key[:12]}.txt"'
    return response


def follow_url(study: Study, run: Run, *, after: int | None, is_mid: bool) -> str:
    last = "" if after is None or after < 0 else after
    address = reverse("reproduction:log", args=[study.slug, run.key])
    return f"{address}?attempt={run.attempt}&after={last}&mid={int(is_mid)}"


def log_context(study: Study, run: Run) -> dict[str, Any]:
    """The box with the last lines of a run."""
    lines, last = outputs.tail(run)
    is_mid = bool(lines) and not lines[-1].ends
    is_running = run.state == Run.State.RUNNING
    return {
        "study": study,
        "run": run,
        "run_chip": ("o", "void") if run.voided_at else run_chip(run),
        "log": outputs.markup(lines, follow_url(study, run, after=last, is_mid=is_mid) if is_running else ""),
        "figures": figures_of(run),
        "waits": queries.waits_for(run),
        "wait_url": reverse("reproduction:run", args=[study.slug, run.key]) if run.state == Run.State.WAITING else "",
        "may_cancel": may_write(study) and run.state in UNDERWAY,
    }


def figures_of(run: Run) -> list[str]:
    """What was measured, the runner, and when it ended."""
    where = run.host.name if run.host else "this server" if run.state == Run.State.ENDED else ""
    told = [
        f"exit code {run.exit_code}" if run.exit_code is not None else "",
        duration(run.seconds),
        f"{duration(run.cpu_seconds)} CPU" if run.cpu_seconds is not None else "",
        memory(run.peak_mb),
        f"{memory(run.gpu_peak_mb)} of the GPU" if run.gpu_peak_mb is not None else "",
        f"{'ran' if run.ended_at else 'runs'} on {where}" if where else "",
        f"try {run.attempt}" if run.attempt > 1 else "",
        f"ended {run.ended_at:%-d %b %H:%M:%S} UTC" if run.ended_at else "",
    ]
    return [one for one in told if one]
