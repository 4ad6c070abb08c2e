"""What was decided on a bug and when, the audit of unanimous bugs, and a second look."""

import secrets

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.adjudication import actions, audits, forms, reopening
from annotator.adjudication.after import after_discussion
from annotator.adjudication.deciding import NOT_YET
from annotator.adjudication.item import Item, item_of, letters_of, settled_on
from annotator.adjudication.models import AuditPick
from annotator.adjudication.past import past_of
from annotator.adjudication.queries import final_rounds
from annotator.adjudication.views import bug_in, facet_in, item_context
from annotator.codebook.models import Category
from annotator.labeling.models import Round
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of
from annotator.web.errors import BadInput


@login_required
@require_GET
def history(request: Request, slug: str, number: int) -> HttpResponse:
    """Every decision, stand and remark on a bug, oldest first."""
    study = study_for(request.user, slug)
    return history_page(request, study, number)


def history_page(request: Request, study: Study, number: int, *, problem: str = "") -> HttpResponse:
    item = item_of(bug_in(study, number), facet_key=request.POST.get("facet", "") or request.GET.get("facet", ""))
    letters = letters_of(item.positions) if item.positions and protocol_of(study).hide_names else {}
    context = item_context(request, study, item) | {
        "past": past_of(item.bug, letters) if item.positions else (),
        "chosen": forms.read(request.POST),
        "seen_at": item.settled[0].at.isoformat() if item.settled else "",
        "raters": _raters(item, letters),
        "problem": problem,
    }
    return render(request, "adjudication/history.html", context, status=422 if problem else 200)


def _raters(item: Item, letters: dict[int, str]) -> list[tuple[str, str]]:
    """Value and text of the choice: letters alone where names are hidden."""
    if item.positions is None:
        return []
    by_letter = {letter: rater for rater, letter in letters_of(item.positions).items()}
    names = {rater.pk: rater.username for rater in item.positions.raters}
    return [(letter, f"Rater {letter}" if letters else names[rater]) for letter, rater in sorted(by_letter.items())]


def _rater(item: Item, letter: str) -> User:
    for rater, own in letters_of(item.positions).items() if item.positions else ():
        if own == letter:
            return User.objects.get(pk=rater)
    raise BadInput("Choose the rater who looks again.")


@login_required
@require_POST
def change(request: Request, slug: str, number: int) -> HttpResponse:
    """Decide anew on what is settled."""
    study = study_for(request.user, slug, Role.ADJUDICATOR)
    bug, facet = bug_in(study, number), facet_in(study, request.POST.get("facet", ""))
    decision = forms.read(request.POST)
    try:
        actions.change_decision(
            bug=bug,
            facet=facet,
            categories=forms.categories(facet, decision.other),
            reason=decision.reason,
            note=decision.note,
            seen_at=request.POST.get("seen_at", ""),
            by=request.user,
        )
    except BadInput as problem:
        return history_page(request, study, number, problem=str(problem))
    messages.success(request, f"The decision on {facet.name} was changed. The one before stays below.")
    return redirect("adjudication:history", slug, number)


@login_required
@require_POST
def reopen(request: Request, slug: str, number: int) -> HttpResponse:
    """Let one rater look again, in a relabel round of its own."""
    study = study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
    bug = bug_in(study, number)
    try:
        rater = _rater(item_of(bug), request.POST.get("rater", ""))
        opened = reopening.reopen_for(bug=bug, rater=rater, reason=request.POST.get("reason", ""), by=request.user)
    except BadInput as problem:
        return history_page(request, study, number, problem=str(problem))
    messages.success(request, f"“{opened.name}” is open. Its answer will stand beside the blind one, not in its place.")
    return redirect("adjudication:history", slug, number)


@login_required
@require_GET
def after(request: Request, slug: str, number: int) -> HttpResponse:
    """How far the raters agree after the discussion, beside the blind agreement that stays."""
    study = study_for(request.user, slug)
    round_ = get_object_or_404(Round, study=study, number=number)
    hidden = protocol_of(study).hide_names
    rows = [] if round_.is_open else after_discussion(round_)
    context = {"study": study, "round": round_, "rows": rows, "names_hidden": hidden, "not_yet": NOT_YET}
    return render(request, "adjudication/after.html", context)


# --- the audit of unanimous bugs


@login_required
@require_GET
def audit(request: Request, slug: str) -> HttpResponse:
    """Rounds whose unanimous bugs can be accepted, and the draws."""
    return audit_page(request, study_for(request.user, slug))


def audit_page(request: Request, study: Study, *, problem: str = "") -> HttpResponse:
    closed = final_rounds(study).order_by("-number")
    context = {
        "study": study,
        "rounds": [audits.summary(round_) for round_ in closed],
        "picks": audits.waiting_for(study, request.user)[:200],
        "can_decide": bool({Role.ADJUDICATOR} & study.my_roles),
        "by_majority": protocol_of(study).by_majority,
        "can_accept": bool({Role.ADJUDICATOR, Role.LEAD} & study.my_roles),
        "problem": problem,
    }
    return render(request, "adjudication/audit.html", context, status=422 if problem else 200)


@login_required
@require_POST
def accept(request: Request, slug: str, number: int) -> HttpResponse:
    """Accept a round's unanimous bugs but for a share drawn at random."""
    study = study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
    round_ = get_object_or_404(Round, study=study, number=number)
    try:
        share, seed = _share(request.POST.get("share", "")), _seed(request.POST.get("seed", ""))
        picks = audits.accept_unanimous(round_=round_, share=share, seed=seed, by=request.user)
    except BadInput as problem:
        return audit_page(request, study, problem=str(problem))
    messages.success(request, f"Accepted. {len(picks)} of them were drawn for a second look.")
    return redirect("adjudication:audit", slug)


def _share(text: str) -> float:
    try:
        return float(text.replace(",", ".")) / 100
    except ValueError:
        raise BadInput("The share is a number of per cent, such as 10.") from None


def _seed(text: str) -> int:
    """Given, or drawn here; either way it is stored, and the draw can be drawn again."""
    if not text.strip():
        return secrets.randbelow(1_000_000)
    if not text.isdecimal() or len(text) > 15:
        raise BadInput("The seed is a whole number of at most 15 digits.")
    return int(text)


@login_required
@require_http_methods(["GET", "POST"])
def pick(request: Request, slug: str, number: int, bug: int) -> HttpResponse:
    """One drawn bug: its labels are right, or one is changed."""
    study = study_for(request.user, slug, Role.ADJUDICATOR)
    picks = AuditPick.objects.filter(bug__study=study, acceptance__round__number=number, bug__number=bug)
    drawn = get_object_or_404(picks.select_related("acceptance__round"))
    if request.method == "GET":
        return pick_page(request, study, drawn)
    try:
        if request.POST.get("act") == "confirm":
            audits.confirm_pick(pick=drawn, by=request.user)
        else:
            _change_pick(request, study, drawn)
    except BadInput as problem:
        return pick_page(request, study, drawn, problem=str(problem))
    left = audits.waiting_for(study, request.user).first()
    return (
        redirect("adjudication:pick", slug, left.acceptance.round.number, left.bug.number)
        if left
        else redirect("adjudication:audit", slug)
    )


def _change_pick(request: Request, study: Study, drawn: AuditPick) -> None:
    decision = forms.read(request.POST)
    chosen = list(Category.objects.filter(facet__codebook__study=study, uid__in=decision.other).select_related("facet"))
    if len({category.facet_id for category in chosen}) != 1:
        raise BadInput("Choose the label that is right, of one facet.")
    facet = chosen[0].facet
    seen = settled_on(drawn.bug, facet)
    if not seen or request.POST.get(f"seen-{facet.key}", "") != seen[0].at.isoformat():
        raise BadInput("Another decision was made since the page was opened. Load it again and compare.")
    audits.change_pick(
        pick=drawn,
        facet=facet,
        categories=chosen,
        reason=decision.reason,
        note=decision.note,
        seen_at=seen[0].at.isoformat(),
        by=request.user,
    )


def pick_page(request: Request, study: Study, drawn: AuditPick, *, problem: str = "") -> HttpResponse:
    bug = bug_in(study, drawn.bug.number)
    item = item_of(bug)
    settled = [(tab, settled_on(bug, tab.facet)) for tab in item.tabs]
    context = item_context(request, study, item) | {
        "pick": drawn,
        "labels": [(tab, rows, rows[0].at.isoformat()) for tab, rows in settled if rows],
        "groups": [(tab.facet, audits.options(tab.facet)) for tab, rows in settled if rows],
        "chosen": forms.read(request.POST),
        "problem": problem,
    }
    return render(request, "adjudication/pick.html", context, status=422 if problem else 200)
