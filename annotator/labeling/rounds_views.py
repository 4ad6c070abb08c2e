"""Rounds: the list, a round's page, and what a lead decides there."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.labeling import actions, follow_up, proposals, rounds
from annotator.labeling.models import Assignment, Flag, FurtherBug, Round
from annotator.labeling.queries import progress, rates_in
from annotator.labeling.rounds_forms import GateForm
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole


def is_lead(study: Study) -> bool:
    return Role.LEAD in study.my_roles


def find(study: Study, number: int) -> Round:
    return get_object_or_404(
        Round.objects.select_related("study", "codebook_version", "opened_by"), study=study, number=number
    )


def for_lead(request: Request, slug: str, number: int) -> tuple[Study, Round]:
    study = study_for(request.user, slug, Role.LEAD)
    return study, find(study, number)


@login_required
@require_GET
def list_rounds(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    lead = is_lead(study)
    context = {"study": study, "is_lead": lead, "lines": rounds.lines(study, viewer=request.user, is_lead=lead)}
    return render(request, "labeling/rounds.html", context)


@login_required
@require_GET
def show(request: Request, slug: str, number: int) -> HttpResponse:
    study = study_for(request.user, slug)
    round_, lead = find(study, number), is_lead(study)
    sees = rounds.leads_blind(round_, request.user, is_lead=lead)
    told = progress(round_, viewer=request.user, is_lead=lead)
    context = {
        "study": study,
        "round": round_,
        "is_lead": lead,
        "is_mine": rates_in(round_, request.user),
        "sees_all": sees,
        "bugs": round_.round_bugs.count(),
        "progress": told,
        "is_answered": sees and not any(one.left for one in told),
        "skipped": rounds.skipped(round_) if sees else [],
        "further": rounds.further(round_),
        "flags": [] if round_.is_open else rounds.flags(round_),
        "names_hidden": rounds.hides_names(study, study.my_roles),
        "waiting": [] if round_.is_open else proposals.waiting(study, round_=round_),
        "settled": [] if round_.is_open else proposals.of_study(study, round_=round_).exclude(state="new"),
        "gate_form": GateForm.of(round_) if _may_set_gate(round_, request.user, lead=lead) else None,
    }
    return render(request, "labeling/round.html", context)


def _may_set_gate(round_: Round, user: User, *, lead: bool) -> bool:
    """Offered to a lead who does not rate here, until the first submission."""
    if not (lead and round_.is_open) or rates_in(round_, user):
        return False
    return not Assignment.objects.filter(round=round_, revision__gt=0).exists()


# --- what a lead decides


@login_required
@require_POST
def gate(request: Request, slug: str, number: int) -> HttpResponse:
    study, round_ = for_lead(request, slug, number)
    form = GateForm(request.POST)
    if not form.is_valid():
        raise BadInput("; ".join(str(error) for errors in form.errors.values() for error in errors))
    actions.set_gate(round_=round_, by=request.user, **form.gate())
    messages.success(request, "The gate is changed. It stands from the first submission on.")
    return redirect("labeling:round", study.slug, round_.number)


@login_required
@require_POST
def hand_on(request: Request, slug: str, number: int) -> HttpResponse:
    """Give a skipped bug to another rater."""
    study, round_ = for_lead(request, slug, number)
    if rates_in(round_, request.user):
        raise Http404("Who rates in an open round sees it as a rater.")
    turn = _turn(request, round_)
    to = User.objects.filter(username=request.POST.get("to", "")).first()
    if to is None:
        raise BadInput("Choose the rater who takes the bug.")
    actions.hand_on(assignment=turn, to=to, by=request.user)
    messages.success(request, f"{to.username} has bug {turn.bug.number} now.")
    return redirect("labeling:round", study.slug, round_.number)


def _turn(request: Request, round_: Round) -> Assignment:
    """The turn that the form names by bug and rater."""
    turns = Assignment.objects.filter(round=round_, rater__username=request.POST.get("rater", ""))
    return get_object_or_404(turns.select_related("rater", "bug"), bug__number=whole(request.POST.get("bug", "")))


@login_required
@require_POST
def further(request: Request, slug: str, number: int) -> HttpResponse:
    """Follow, match or refuse a note of a further bug."""
    study, round_ = for_lead(request, slug, number)
    if round_.is_open:
        raise Http404("Notes of an open round are their author's alone.")
    noted = _note(request, _turn(request, round_))
    act = request.POST.get("act")
    if act == "follow":
        bug = follow_up.follow_further_bug(noted=noted, by=request.user)
        messages.success(request, f"It is bug {bug.number} now. Both raters label it in a later round.")
    elif act == "match":
        wanted = whole(request.POST.get("same", ""))
        same = Bug.objects.filter(item=noted.assignment.bug.item_id, number=wanted or 0).first()
        if same is None:
            raise BadInput("Choose the bug that the note means.")
        follow_up.match_further_bug(noted=noted, bug=same, by=request.user)
    else:
        follow_up.match_further_bug(noted=noted, bug=None, reason=request.POST.get("reason", ""), by=request.user)
    return redirect("labeling:round", study.slug, round_.number)


def _note(request: Request, turn: Assignment) -> FurtherBug:
    notes = list(FurtherBug.objects.filter(assignment=turn).order_by("pk"))
    place = whole(request.POST.get("place", "")) or 0
    if not 1 <= place <= len(notes):
        raise Http404("There is no such note.")
    return notes[place - 1]


@login_required
@require_POST
def decide_flags(request: Request, slug: str, number: int) -> HttpResponse:
    """Accept the chosen flags as one relabel round, or refuse them."""
    study, round_ = for_lead(request, slug, number)
    wanted = set(request.POST.getlist("flag"))
    hidden = rounds.hides_names(study, study.my_roles)
    new = [flag for flag in rounds.flags(round_) if flag.state == Flag.State.NEW]
    chosen = [flag for flag in new if name_of(flag, names_hidden=hidden) in wanted]
    if not chosen:
        raise BadInput("Choose at least one open flag.")
    if request.POST.get("act") == "refuse":
        for raised in chosen:
            follow_up.refuse_flag(raised=raised, by=request.user)
        return redirect("labeling:round", study.slug, round_.number)
    opened = follow_up.relabel_flagged(flags=chosen, name=request.POST.get("name", ""), by=request.user)
    messages.success(request, f"{opened.name} is open: the raters look at these bugs again.")
    return redirect("labeling:round", study.slug, opened.number)


def name_of(flag: Flag, *, names_hidden: bool) -> str:
    rater = "" if names_hidden else flag.assignment.rater.username
    return f"{flag.assignment.bug.number}:{rater}:{flag.facet.key}"
