"""The agreement pages: the trend by round, one round's figures, a pair's confusion, and the bugs behind a cell."""

from collections.abc import Collection, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotator.accounts.http import Request
from annotator.agreement import papers, queries, screened
from annotator.agreement.actions import continue_below_gate
from annotator.agreement.cells import cell_page
from annotator.agreement.entries import Entry
from annotator.agreement.page import NOT_YET, Page, level_links, query_of
from annotator.agreement.scales import ANSWERED, TOP
from annotator.labeling.models import Round
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import Refused
from annotator.web.numbers import whole


def rounds_of(study: Study) -> list[Round]:
    rounds = Round.objects.filter(study=study).order_by("number")
    return list(rounds.select_related("gate_continued_by", "codebook_version").defer("codebook_version__document"))


def chosen(study: Study, number: int) -> tuple[list[Round], Round]:
    rounds = rounds_of(study)
    found = next((each for each in rounds if each.number == number), None)
    if found is None:
        raise Http404("There is no such round.")
    return rounds, found


def level_of(request: Request, study: Study) -> str:
    return queries.level_named(study, request.GET.get("level", ""), mapped=request.GET.get("mapped", ""))


@login_required
@require_GET
def trend(request: Request, slug: str) -> HttpResponse:
    """The study's rounds side by side, and the figures of the latest that is not open."""
    study = study_for(request.user, slug)
    rounds = rounds_of(study)
    latest = next((each for each in reversed(rounds) if not each.is_open), None)
    shown = Page(study, rounds, chosen=latest, level=level_of(request, study))
    return page(request, shown, screening=screened.entries(study))


@login_required
@require_GET
def round_page(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug)
    rounds, found = chosen(study, number)
    return page(request, Page(study, rounds, chosen=found, level=level_of(request, study)))


@login_required
@require_GET
def pair(request: Request, slug: str, number: int, facet: str, first: str, second: str) -> HttpResponse:
    """The same, with one facet of one pair in detail."""
    study = study_for(request.user, slug)
    rounds, found = chosen(study, number)
    shown = Page(study, rounds, chosen=found, facet=facet, pair=(first, second), level=level_of(request, study))
    if not found.is_open and (shown.facet, shown.pair) != (facet, (first, second)):
        raise Http404("These two have no agreement on such a facet in this round.")
    return page(request, shown)


def page(request: Request, shown: Page, *, screening: Sequence[Entry] = ()) -> HttpResponse:
    context = {"study": shown.study, "page": shown, "not_yet": NOT_YET, "screening": screening}
    return render(request, "agreement/agreement.html", context)


@login_required
@require_GET
def cell(request: Request, slug: str, **place: Any) -> HttpResponse:
    """The bugs of one cell of the confusion matrix, as a page or as the part below the matrix."""
    return cell_of(request, study_for(request.user, slug), **place)


def cell_of(
    request: Request,
    study: Study,
    *,
    number: int,
    facet: str,
    first: str,
    second: str,
    row: str,
    column: str,
    hidden: Collection[int] = (),
) -> HttpResponse:
    """`hidden` are numbers of bugs of which it is not told whose answer is whose; a later stage knows them."""
    _, found = chosen(study, number)
    if found.is_open:
        raise Refused(NOT_YET)
    after = whole(request.GET.get("after", "")) or 0
    level = level_of(request, study)
    shown = cell_page(
        found, facet=facet, raters=(first, second), uids=(row, column), level=level, after=after, hidden=hidden
    )
    if shown is None:
        raise Http404("There is no such cell.")
    context = {"study": study, "round": found, "cell": shown, "facet": facet, "first": first, "second": second}
    context["level"] = query_of(level)
    template = "agreement/_cell.html" if request.headers.get("HX-Request") else "agreement/cell.html"
    response = render(request, template, context)
    response["Vary"] = "HX-Request"
    return response


@login_required
@require_GET
def pooled(request: Request, slug: str) -> HttpResponse:
    """All main rounds together."""
    study = study_for(request.user, slug)
    level = level_of(request, study)
    context = {"study": study, "entries": queries.pooled(study, level=level), "level": level, "query": query_of(level)}
    return render(request, "agreement/pooled.html", context | {"level_links": level_links(study, level)})


@login_required
@require_GET
def table_csv(request: Request, slug: str, number: int) -> HttpResponse:
    found = closed_round(request, slug, number)
    level = level_of(request, found.study)
    body = papers.as_csv(queries.entries_of(found, level=level))
    return attachment(body, kind="text/csv; charset=utf-8", name=f"{name_of(slug, number, level)}.csv")


@login_required
@require_GET
def table_latex(request: Request, slug: str, number: int) -> HttpResponse:
    found = closed_round(request, slug, number)
    level = level_of(request, found.study)
    by = {ANSWERED: "", TOP: ", by the categories at the top"}.get(level, f", mapped to {level} of the codebook")
    body = papers.as_latex(queries.entries_of(found, level=level), caption=f"Agreement of {found.name}{by}.")
    return attachment(body, kind="application/x-tex; charset=utf-8", name=f"{name_of(slug, number, level)}.tex")


def name_of(slug: str, number: int, level: str) -> str:
    return f"agreement-{slug}-{number}{'' if level == ANSWERED else f'-{level}'}"


def closed_round(request: Request, slug: str, number: int) -> Round:
    study = study_for(request.user, slug)
    found = get_object_or_404(Round.objects.select_related("study"), study=study, number=number)
    if found.is_open:
        raise Refused(NOT_YET)
    return found


def attachment(body: str, *, kind: str, name: str) -> HttpResponse:
    return HttpResponse(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@login_required
@require_POST
def go_on(request: Request, slug: str, number: int) -> HttpResponse:
    """A lead writes down why the study goes on below the gate."""
    study = study_for(request.user, slug, Role.LEAD)
    found = get_object_or_404(Round, study=study, number=number)
    continue_below_gate(round_=found, reason=request.POST.get("reason", ""), by=request.user)
    messages.success(request, f"The reason to continue below the gate of {found.name} is kept, and shown beside it.")
    return redirect("agreement:round", slug, number)
