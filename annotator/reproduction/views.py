"""The recipes of a study, and one of them with what its runs say."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.reproduction import listing, outputs, queries, recipes
from annotator.reproduction.finding import may_write, recipe_in, series_in
from annotator.reproduction.matrix import Matrix, matrix_of
from annotator.reproduction.models import Recipe, Run, Runner, Series
from annotator.reproduction.queries import Told
from annotator.reproduction.run_views import log_context
from annotator.reproduction.surroundings import items_of
from annotator.reproduction.versions import over_versions
from annotator.reproduction.wording import chip, limits_in_words, oracle_in_words
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.numbers import whole

MOST_SERIES = 20


@login_required
@require_GET
def list_recipes(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    filters = listing.filters_of(request.GET.dict())
    visible = queries.recipes_visible_to(study, request.user, study.my_roles)
    found = listing.page(visible, filters, viewer=request.user, before=whole(request.GET.get("before", "")))
    context = {
        "study": study,
        "filters": filters,
        "is_narrowed": filters != listing.Filters(),
        "page": found,
        "verdicts": listing.VERDICTS,
        "repositories": listing.repositories(visible),
        "may_write": may_write(study),
        "for_gpu": listing.waiting_for_gpu(study, request.user, study.my_roles),
        "here": request.get_full_path(),
        "next_url": _turned(request.GET, found.next_before),
    }
    return render(request, "reproduction/recipes.html", context)


def _turned(sent: QueryDict, before: int | None) -> str:
    """The same list from there on, or nothing."""
    if before is None:
        return ""
    turned = sent.copy()
    turned["before"] = str(before)
    return f"?{turned.urlencode()}"


@login_required
@require_GET
def show(request: Request, slug: str, number: int) -> HttpResponse:
    """The recipe with its latest series."""
    study = study_for(request.user, slug)
    recipe = recipe_in(study, request.user, number)
    return page(request, study, recipe, all_series(recipe).first())


@login_required
@require_GET
def show_series(request: Request, slug: str, number: int, version: int, series: int) -> HttpResponse:
    study = study_for(request.user, slug)
    recipe = recipe_in(study, request.user, number)
    return page(request, study, recipe, series_in(recipe, version, series))


def all_series(recipe: Recipe) -> Any:
    rows = Series.objects.filter(recipe__study=recipe.study_id, recipe__number=recipe.number)
    return rows.order_by("-asked_at", "-pk")


def page(request: Request, study: Study, recipe: Recipe, series: Series | None) -> HttpResponse:
    """htmx asks for the matrix alone while runs go on; once they are through it is told to fetch the page anew."""
    matrix = _matrix(series)
    context: dict[str, Any] = {"study": study, "recipe": recipe, "matrix": matrix, "may_write": may_write(study)}
    if request.htmx and matrix:
        response = render(request, "reproduction/_matrix.html", context | {"chosen": request.GET.get("run", "")})
        if matrix.told.is_over:
            response["HX-Refresh"] = "true"
        return response
    read = recipes.from_document(recipe.document)
    ran = matrix.recipe if matrix else read
    run = _chosen(matrix, request.GET.get("run", ""))
    told = queries.series_told(all_series(recipe)[:MOST_SERIES])
    context |= {
        "read": read,
        "ran": ran,
        "chip": chip(matrix.told if matrix else None),
        "oracle": oracle_in_words(ran),
        "limits": limits_in_words(ran.limits),
        "environments": ran.environments,
        "items": items_of(ran, matrix),
        "over": over_versions(matrix) if matrix else None,
        "compared": _compared(request, matrix),
        "streams": outputs.STREAMS[1:],
        "chosen": run.key if run else "",
        "series": [(one, chip(one)) for one in told],
        "versions": versions_of(recipe),
        "runners": Runner.choices,
        "acts": _acts(study, recipe, matrix.told if matrix else None),
    }
    return render(request, "reproduction/recipe.html", context | (log_context(study, run) if run else {}))


def _matrix(series: Series | None) -> Matrix | None:
    if series is None:
        return None
    (told,) = queries.series_told(Series.objects.filter(pk=series.pk))
    return matrix_of(told)


def _chosen(matrix: Matrix | None, key: str) -> Run | None:
    """The run whose log is shown: the one asked for; else what runs now, shows the bug, says nothing of it, or any."""
    runs = matrix.told.runs if matrix else ()
    ranks = [
        [run for run in runs if run.key == key],
        [run for run in runs if run.state == Run.State.RUNNING],
        [run for run in runs if run.outcome == Run.Outcome.BUG and run.voided_at is None],
        [run for run in runs if queries.is_faulty(run)],
        [run for run in runs if run.state == Run.State.ENDED],
        list(runs),
    ]
    found = next((rank[0] for rank in ranks if rank), None)
    return Run.objects.select_related("series__recipe", "host", "locked").get(pk=found.pk) if found else None


def _compared(request: Request, matrix: Matrix | None) -> outputs.Compared | None:
    sent, stream = request.GET, request.GET.get("stream", "")
    known = stream if stream in dict(outputs.STREAMS) else ""
    return outputs.compared(matrix, sent.get("left", ""), sent.get("right", ""), known) if matrix else None


def versions_of(recipe: Recipe) -> list[Recipe]:
    rows = Recipe.objects.filter(study=recipe.study_id, number=recipe.number).select_related("created_by")
    return list(rows.order_by("-version"))


def _acts(study: Study, recipe: Recipe, told: Told | None) -> dict[str, Any]:
    """What may be done with the series that is shown."""
    if told is None or not may_write(study):
        return {}
    place = [study.slug, recipe.number, told.series.recipe.version, told.series.number]
    return {
        "retry": reverse("reproduction:retry", args=place) if told.faults and told.is_over else "",
        "faults": told.faults,
        "cancel": "" if told.is_over else reverse("reproduction:cancel", args=place),
    }
