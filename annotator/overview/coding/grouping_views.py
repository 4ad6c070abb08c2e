"""Open coding on one screen: codes on the left, categories beside them, what a code stands on next to both."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.adjudication.grouped import agreeing, settle_grouped
from annotator.codebook import coding, wording
from annotator.codebook.memos import write_memo
from annotator.codebook.models import Category, Facet
from annotator.labeling import proposals
from annotator.overview.coding import grouping
from annotator.overview.past import is_nameless
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput, Refused


@login_required
@require_http_methods(["GET", "POST"])
def board(request: Request, slug: str, facet: str) -> HttpResponse:
    """Read by everybody in the study, moved about by its leads."""
    study = study_for(request.user, slug, *([Role.LEAD] if request.method == "POST" else []))
    row = facet_in(study, facet)
    if request.method == "GET":
        return page(request, study, row)
    try:
        said = act(row, request.POST, by=request.user)
    except (BadInput, Refused) as problem:
        return page(request, study, row, problem=str(problem))
    if request.htmx:
        return page(request, study, row, said=said)
    messages.success(request, said)
    order = request.POST.get("order", "")
    return redirect(request.path + (f"?{urlencode({'order': order})}" if order else ""))


def facet_in(study: Study, key: str) -> Facet:
    rows = Facet.objects.select_related("codebook").exclude(key=Facet.VERDICT)
    return get_object_or_404(rows, codebook__study=study, key=key, retired_at=None)


def act(facet: Facet, sent: Any, *, by: User) -> str:
    """Do what the pressed button says; what was done, in a sentence."""
    codes = sent.getlist("code")
    if target := sent.get("under", ""):
        return f"{coding.place(facet=facet, codes=codes, under=target, by=by).reason}."
    for name, do in OF_ONE_CODE.items():
        if pressed := sent.get(name, ""):
            code, _, target = pressed.partition(" ")
            return do(facet, code, target, by=by)
    do_all = OF_THE_BOARD.get(sent.get("act", ""))
    if do_all is None:
        raise BadInput("The page sent an act that is not known. Load it again.")
    return do_all(facet, sent, codes, by=by)


def beside(facet: Facet, code: str, target: str, *, by: User) -> str:
    return f"{coding.place(facet=facet, codes=[code], under=target, by=by).reason}."


def merge(facet: Facet, code: str, target: str, *, by: User) -> str:
    change = grouping.merge(facet, sources=[code], into=target, by=by)
    return f"{wording.sentence(change)}{'' if change.applied_at else ', once the open rounds have closed'}."


def category(facet: Facet, code: str, target: str, *, by: User) -> str:
    return f"{coding.make_category(facet=facet, code=code, by=by).reason}."


def put(facet: Facet, sent: Any, codes: list[str], *, by: User) -> str:
    return f"{coding.place(facet=facet, codes=codes, under=sent.get('to', ''), by=by).reason}."


def out(facet: Facet, sent: Any, codes: list[str], *, by: User) -> str:
    return f"{coding.take_out(facet=facet, codes=codes, by=by).reason}."


def as_codes(facet: Facet, sent: Any, codes: list[str], *, by: User) -> str:
    return f"{coding.take_as_codes(facet=facet, by=by).reason}."


def undo(facet: Facet, sent: Any, codes: list[str], *, by: User) -> str:
    return grouping.undo(facet, by=by)


def settle(facet: Facet, sent: Any, codes: list[str], *, by: User) -> str:
    count = settle_grouped(study=facet.codebook.study, facet=facet, by=by)
    if not count:
        raise BadInput("No dispute ends with the grouping. What is left is for the raters to talk over.")
    return f"{count} dispute{'' if count == 1 else 's'} settled by the grouping."


def new(facet: Facet, sent: Any, codes: list[str], *, by: User) -> str:
    name = sent.get("name", "").strip()
    if not name:
        raise BadInput("Give the new category a name.")
    made = coding.new_category(
        facet=facet, name=name, definition=sent.get("definition", "").strip(), codes=codes, by=by
    )
    return f"{made.name} is a category{f', with {len(codes)} of the codes' if codes else ''}."


OF_ONE_CODE: dict[str, Callable[..., str]] = {"with": beside, "merge": merge, "category": category}
OF_THE_BOARD: dict[str, Callable[..., str]] = {
    "to": put,
    "out": out,
    "codes": as_codes,
    "undo": undo,
    "settle": settle,
    "new": new,
}


def page(request: Request, study: Study, facet: Facet, *, said: str = "", problem: str = "") -> HttpResponse:
    sent = request.POST if request.method == "POST" else request.GET
    shown = grouping.board(facet, order=sent.get("order", grouping.ALIKE))
    is_lead = Role.LEAD in study.my_roles
    last = grouping.last_step(facet, by=request.user) if is_lead else None
    context = {
        "study": study,
        "facet": facet,
        "board": shown,
        "orders": grouping.ORDERS.items(),
        "is_lead": is_lead,
        "last": last,
        "said": said,
        "problem": problem,
        "marked": sent.getlist("code") if problem else [],
        "name": sent.get("name", "") if problem else "",
        "here": reverse("coding:board", args=[study.slug, facet.key]),
        "is_swap": bool(request.htmx),
        "facets": other_facets(study, facet),
        "agreeing": agreeing(study, facet) if is_lead else 0,
        "proposed": proposals.of_study(study).filter(category__facet=facet, state="new"),
    }
    template = "codebook/_board.html" if request.htmx else "codebook/board.html"
    return render(request, template, context, status=422 if problem else 200)


def other_facets(study: Study, facet: Facet) -> list[Facet]:
    """Facets of open coding, to go on with."""
    rows = Facet.objects.filter(codebook__study=study, retired_at=None, takes_codes=True)
    return list(rows.exclude(pk=facet.pk).order_by("position"))


@login_required
@require_http_methods(["GET", "POST"])
def code(request: Request, slug: str, facet: str, uid: str) -> HttpResponse:
    """What a code or category stands on: its bugs, each rater's words beside each other, and memos."""
    study = study_for(request.user, slug, *([Role.LEAD] if request.method == "POST" else []))
    row = facet_in(study, facet)
    listed = Category.objects.select_related("facet__codebook", "parent", "merged_into")
    category = get_object_or_404(listed.exclude(state=Category.State.PROPOSED), facet=row, uid=uid)
    if request.method == "POST":
        write_memo(codebook=row.codebook, category=category, text=request.POST.get("memo", ""), by=request.user)
        if not request.htmx:
            return redirect(request.path)
    context = {
        "study": study,
        "facet": row,
        "detail": shown_to(request.user, study, grouping.detail(category)),
        "is_lead": Role.LEAD in study.my_roles,
        "here": request.path,
        "is_swap": bool(request.htmx),
        "board_url": reverse("coding:board", args=[study.slug, row.key]),
    }
    return render(request, "codebook/_code.html" if request.htmx else "codebook/code.html", context)


def shown_to(viewer: User, study: Study, found: grouping.Detail) -> grouping.Detail:
    """Where the protocol keeps the raters' names from the viewer, their words stand in an order that tells nothing."""
    if not is_nameless(study, viewer):
        return found
    bugs = tuple(
        replace(
            each,
            said=tuple(sorted((replace(one, rater="a rater") for one in each.said), key=lambda one: one.names)),
        )
        for each in found.bugs
    )
    return replace(found, bugs=bugs)
