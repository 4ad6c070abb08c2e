"""The adjudicator's queue with the item beside it, and a bug's history."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.adjudication import actions, forms, queue
from annotator.adjudication.deciding import NOT_YET, has_rated
from annotator.adjudication.forms import Decision
from annotator.adjudication.item import LEFT_OPEN, NOT_A_BUG, Item, bug_of, item_of
from annotator.adjudication.jointly import waiting_for_joint
from annotator.adjudication.models import Resolution
from annotator.codebook.models import Facet
from annotator.labeling.models import Round
from annotator.labeling.source import file_of, source_of
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of
from annotator.web.errors import BadInput

SET_JOINTLY = {Role.LEAD, Role.ADJUDICATOR}


def bug_in(study: Study, number: int) -> Bug:
    bug = bug_of(study, number)
    if bug is None:
        raise Http404("The study has no such bug.")
    return bug


def facet_in(study: Study, key: str) -> Facet:
    facet = Facet.objects.filter(codebook__study=study, key=key, retired_at=None).first()
    if facet is None:
        raise Http404("The study has no such facet.")
    return facet


@login_required
@require_GET
def show_queue(request: Request, slug: str) -> HttpResponse:
    """The disputes, and the first of them."""
    study = study_for(request.user, slug)
    filters = forms.filters_of(request.GET)
    waiting = queue.to_decide(study, filters, viewer=request.user)
    numbers = waiting or queue.in_order(queue.disputes(study, filters))
    bug = bug_of(study, numbers[0]) if numbers else None
    return page(request, study, bug, filters=filters)


@login_required
@require_http_methods(["GET", "POST"])
def show_bug(request: Request, slug: str, number: int) -> HttpResponse:
    """One bug of the queue; a decision on it is answered with the next."""
    if request.method == "POST":
        return settle(request, slug, number)
    study = study_for(request.user, slug)
    return page(request, study, bug_in(study, number), filters=forms.filters_of(request.GET))


def settle(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug, Role.ADJUDICATOR)
    bug, facet = bug_in(study, number), facet_in(study, request.POST.get("facet", ""))
    filters, decision = forms.filters_of(request.GET), forms.read(request.POST)
    order = queue.to_decide(study, filters, viewer=request.user)
    try:
        _settle(request, bug, facet, decision)
    except BadInput as problem:
        return page(request, study, bug, filters=filters, facet=facet.key, decision=decision, problem=str(problem))
    return _next(request, study, number, filters, order)


def _settle(request: Request, bug: Bug, facet: Facet, decision: Decision) -> None:
    more: dict[str, Any] = {"bug": bug, "facet": facet, "note": decision.note, "by": request.user}
    if decision.choice == LEFT_OPEN:
        actions.leave_open(**more)
    elif decision.choice == NOT_A_BUG and not facet.is_verdict:
        actions.adjudicate_not_a_bug(**more, reason=decision.reason)
    else:
        label = forms.label_of(item_of(bug, facet_key=facet.key), decision)
        actions.adjudicate(**more, categories=label, reason=decision.reason)


def _next(request: Request, study: Study, number: int, filters: queue.Filters, order: list[int]) -> HttpResponse:
    """The same bug while more of it is in dispute, else the one that came after it."""
    left = queue.to_decide(study, filters, viewer=request.user)
    following = queue.following(number, order=order, left=left)
    url = address(study, following, filters)
    if not request.htmx:
        return redirect(url)
    response = page(request, study, bug_of(study, following) if following else None, filters=filters, done="Settled.")
    response["HX-Push-Url"] = url
    return response


def address(study: Study, number: int, filters: queue.Filters, **more: str) -> str:
    """Of a bug in the queue; of the queue where there is none."""
    path = (
        reverse("adjudication:bug", args=[study.slug, number])
        if number
        else reverse("adjudication:queue", args=[study.slug])
    )
    query = forms.query_of(filters, **more)
    return f"{path}?{query}" if query else path


def page(
    request: Request,
    study: Study,
    bug: Bug | None,
    *,
    filters: queue.Filters,
    facet: str = "",
    decision: Decision | None = None,
    problem: str = "",
    done: str = "",
) -> HttpResponse:
    item = item_of(bug, facet_key=facet or request.GET.get("facet", "")) if bug else None
    numbers = queue.in_order(queue.disputes(study, filters))[: queue.PAGE]
    context: dict[str, Any] = item_context(request, study, item) | {
        "filters": filters,
        "query": forms.query_of(filters),
        "rows": queue.rows_of(study, filters, numbers),
        "numbers": queue.numbers(study, request.user),
        "choices": queue.choices(study),
        "joint": waiting_for_joint(study) if study.my_roles & SET_JOINTLY else (),
        "states": queue.STATES.items(),
        "chosen": decision or Decision(),
        "problem": problem,
        "done": done,
        "is_swap": bool(request.htmx),
    }
    template = "adjudication/_main.html" if request.htmx else "adjudication/queue.html"
    return render(request, template, context, status=422 if problem else 200)


def item_context(request: Request, study: Study, item: Item | None) -> dict[str, Any]:
    """What the page of one bug shows, whoever looks at it."""
    mine = study.my_roles
    context: dict[str, Any] = {
        "study": study,
        "item": item,
        "not_yet": NOT_YET,
        "roles": mine,
        "names_hidden": protocol_of(study).hide_names,
        "reasons": Resolution.Reason.choices,
    }
    if item is None:
        return context
    rated = has_rated(item.bug, request.user)
    if item.is_joint:
        context["members"] = User.objects.filter(memberships__study=study).distinct().order_by("username")
        context["ticked"] = set(request.POST.getlist("participant"))
    return context | {
        "source": source_of(item.bug),
        "bug_url": reverse("adjudication:bug", args=[study.slug, item.bug.number]),
        "has_rated": rated,
        "can_join": bool(mine & SET_JOINTLY),
        "can_decide": Role.ADJUDICATOR in mine and not rated,
        "can_remark": item.positions is not None and (rated or bool(mine & {Role.LEAD, Role.ADJUDICATOR})),
    }


@login_required
@require_GET
def file(request: Request, slug: str, number: int, position: int) -> HttpResponse:
    """The diff of one file that was too long to come with the page."""
    study = study_for(request.user, slug)
    bug = bug_in(study, number)
    found = file_of(bug, position)
    if found is None:
        raise Http404("The copy holds no diff of this file.")
    changed, table = found
    if request.htmx:
        return HttpResponse(table)
    bug_url = reverse("adjudication:bug", args=[slug, number])
    return render(
        request, "adjudication/file.html", {"study": study, "file": changed, "table": table, "bug_url": bug_url}
    )


@login_required
@require_POST
def remark(request: Request, slug: str, number: int) -> HttpResponse:
    """A turn in the discussion; the adjudicator's is a question to the raters where the button says so."""
    study = study_for(request.user, slug)
    bug = bug_in(study, number)
    is_question = request.POST.get("act") == "ask"
    if is_question:
        study_for(request.user, slug, Role.ADJUDICATOR)
    elif not has_rated(bug, request.user):
        study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
    facet = facet_in(study, request.POST["facet"]) if request.POST.get("facet") else None
    actions.remark(bug=bug, text=request.POST.get("text", ""), by=request.user, facet=facet, is_question=is_question)
    back = "adjudication:own" if request.POST.get("back") == "mine" else "adjudication:bug"
    query = f"?facet={facet.key}" if facet else ""
    return redirect(reverse(back, args=[slug, number]) + query + "#comments")


@login_required
@require_POST
def majority(request: Request, slug: str, number: int) -> HttpResponse:
    """Let the majority of a round's raters decide, where the protocol allows it."""
    study = study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
    round_ = get_object_or_404(Round.objects.select_related("study"), study=study, number=number)
    count = actions.settle_by_majority(round_=round_, by=request.user)
    messages.success(request, f"{count} dispute{'' if count == 1 else 's'} of {round_.name} settled by majority.")
    return redirect("adjudication:queue", slug)
