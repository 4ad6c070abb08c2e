"""Meeting mode: one large screen for all who sit together."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.adjudication import forms, meetings, queue
from annotator.adjudication.forms import Decision
from annotator.adjudication.item import LEFT_OPEN, NOT_A_BUG, bug_of, item_of
from annotator.adjudication.views import bug_in, facet_in, item_context
from annotator.codebook.models import Facet
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role, Session, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole

MAY = (Role.LEAD, Role.ADJUDICATOR, Role.RATER)


@login_required
@require_GET
def meeting(request: Request, slug: str) -> HttpResponse:
    """Who takes part; once it goes on, the dispute in hand."""
    study = study_for(request.user, slug, *MAY)
    live = meetings.live_meeting(study)
    if live is None:
        return start_page(request, study)
    return page(request, study, live, number=whole(request.GET.get("bug", "")) or 0)


def start_page(request: Request, study: Study, *, problem: str = "") -> HttpResponse:
    members = User.objects.filter(memberships__study=study).distinct().order_by("username")
    past = Session.objects.filter(study=study, kind=Session.Kind.CONSENSUS).exclude(ended_at=None)
    context = {
        "study": study,
        "members": members,
        "ticked": set(request.POST.getlist("participant")),
        "past": past.prefetch_related("participants").order_by("-pk")[:20],
        "numbers": queue.numbers(study, request.user),
        "problem": problem,
    }
    return render(request, "adjudication/meeting_start.html", context, status=422 if problem else 200)


@login_required
@require_POST
def start(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, *MAY)
    chosen = User.objects.filter(username__in=request.POST.getlist("participant"), memberships__study=study).distinct()
    try:
        meetings.start_meeting(study=study, participants=list(chosen), by=request.user)
    except BadInput as problem:
        return start_page(request, study, problem=str(problem))
    return redirect("adjudication:meeting", slug)


@login_required
@require_POST
def end(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, *MAY)
    live = get_object_or_404(Session, study=study, kind=Session.Kind.CONSENSUS, ended_at=None)
    meetings.end_meeting(meeting=live, notes=request.POST.get("notes", ""), by=request.user)
    messages.success(request, "The meeting has ended. Its decisions are kept with it.")
    return redirect("adjudication:meeting", slug)


@login_required
@require_POST
def decide(request: Request, slug: str, number: int) -> HttpResponse:
    """A decision of all who are there; the answer is the next dispute."""
    study = study_for(request.user, slug, *MAY)
    bug, facet = bug_in(study, number), facet_in(study, request.POST.get("facet", ""))
    live = get_object_or_404(Session, study=study, kind=Session.Kind.CONSENSUS, ended_at=None)
    decision = forms.read(request.POST)
    order = order_of(study, live)
    try:
        _decide(request, live, bug, facet, decision)
    except BadInput as problem:
        return page(request, study, live, number=number, facet=facet.key, decision=decision, problem=str(problem))
    following = queue.following(number, order=order, left=order_of(study, live))
    if request.htmx:
        response = page(request, study, live, number=following, done="Settled.")
        response["HX-Push-Url"] = address(study, following)
        return response
    return redirect(address(study, following))


def _decide(request: Request, live: Session, bug: Bug, facet: Facet, decision: Decision) -> None:
    more: dict[str, Any] = {"meeting": live, "bug": bug, "facet": facet, "note": decision.note, "by": request.user}
    if decision.choice == LEFT_OPEN:
        meetings.leave_open_together(**more)
    elif decision.choice == NOT_A_BUG and not facet.is_verdict:
        meetings.not_a_bug_together(**more, confirmed=True)  # the page says that settling is their confirmation
    else:
        label = forms.label_of(item_of(bug, facet_key=facet.key), decision)
        meetings.decide_together(**more, categories=label, confirmed=True)


def order_of(study: Study, live: Session) -> list[int]:
    """Bugs that the meeting can decide: all their raters take part."""
    here = queue.decidable_by(list(live.participants.all()))
    return queue.in_order(queue.disputes(study, queue.Filters()).filter(here))


def walk(study: Study, live: Session, number: int) -> dict[str, Any]:
    """How far the meeting has come, and the undecided before and after this one; both go round."""
    order = order_of(study, live)
    decided = meetings.decided_in(live).exclude(number__in=order).count()
    waiting = queue.bugs_in(
        queue.disputes(study, queue.Filters()).exclude(queue.relabelled()).exclude(bug__number__in=order)
    )
    place = order.index(number) if number in order else -1
    others = order[place + 1 :] + order[: max(place, 0)]
    return {
        "decided": decided,
        "total": decided + len(order),
        "waiting": waiting,
        "previous_url": address(study, others[-1]) if others else "",
        "next_url": address(study, others[0]) if others else "",
    }


def address(study: Study, number: int, **more: str) -> str:
    path = reverse("adjudication:meeting", args=[study.slug])
    query = forms.query_of(queue.Filters(), bug=str(number) if number else "", **more)
    return f"{path}?{query}" if query else path


def page(
    request: Request,
    study: Study,
    live: Session,
    *,
    number: int = 0,
    facet: str = "",
    decision: Decision | None = None,
    problem: str = "",
    done: str = "",
) -> HttpResponse:
    number = number or (order_of(study, live) or [0])[0]
    bug = bug_of(study, number) if number else None
    item = item_of(bug, facet_key=facet or request.GET.get("facet", "")) if bug else None
    positions = item.positions if item else None
    participants = live.participants.order_by("username")
    context = (
        item_context(request, study, item)
        | walk(study, live, number)
        | {
            "meeting": live,
            "meeting_url": address(study, number),
            "participants": participants,
            "ticked": set(request.POST.getlist("participant")) or {person.username for person in participants},
            "absent": meetings.absent(live, positions) if positions else [],
            "chosen": decision or Decision(),
            "problem": problem,
            "done": done,
            "is_swap": bool(request.htmx),
        }
    )
    template = "adjudication/_meeting.html" if request.htmx else "adjudication/meeting.html"
    return render(request, template, context, status=422 if problem else 200)
