"""The labelling page: one bug, one form, one request for save and next."""

from dataclasses import replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import get_template
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.codebook.choices import choices_of
from annotator.labeling import actions, forms, prepared, proposals, suggesting, turns
from annotator.labeling.models import Assignment, Round
from annotator.labeling.news import News, last_seen, news_since, second_looks
from annotator.labeling.panel import panel_of
from annotator.labeling.source import file_of
from annotator.studies.access import roles_in, study_for
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of
from annotator.web.errors import BadInput, Refused
from annotator.web.numbers import whole

State = Assignment.State
PROPOSE = "propose:"


def rater_in(request: Request, slug: str, number: int) -> tuple[Study, Round, User]:
    """The study and its round, for one of the study's raters: one query where all is well."""
    round_ = prepared.ROUND_OF_RATER.first(slug=slug, number=number, user=request.user.pk)
    if round_ is None:
        study_for(request.user, slug, Role.RATER)  # says what is missing
        raise Http404("There is no such round.")
    return round_.study, round_, request.user


def own(round_: Round, rater: User, bug: int, *, is_shown: bool = True) -> Assignment:
    """The rater's turn at a bug. Whether others have it cannot be told from the answer."""
    found = turns.turn_at(round_, rater, bug, is_shown=is_shown)
    if found is None:
        raise Http404("You have no such bug in this round.")
    return found


def is_swap(request: Request) -> bool:
    """Whether htmx asked, to put the answer into the page."""
    return bool(request.htmx)


@login_required
@require_GET
def label(request: Request, slug: str, number: int) -> HttpResponse:
    """The rater's next bug."""
    study, round_, rater = rater_in(request, slug, number)
    assignment = turns.next_turn(round_, rater)
    if assignment is None:
        return done(request, study, round_)
    return page(request, study, assignment)


@login_required
@require_http_methods(["GET", "POST"])
def bug(request: Request, slug: str, number: int, bug: int) -> HttpResponse:
    """A given bug of the rater: to answer, or to answer again until the round closes."""
    study, round_, rater = rater_in(request, slug, number)
    if request.method == "GET":
        return page(request, study, own(round_, rater, bug))
    if problem := not_meant(request):
        raise Refused(problem)
    assignment = own(round_, rater, bug, is_shown=False)
    filled = forms.read(request.POST)
    try:
        kept = _act(request, assignment, filled)
    except BadInput as problem:
        return page(request, study, own(round_, rater, bug), filled=filled, problem=str(problem))
    if not is_swap(request):
        return redirect(request.path) if kept else redirect("labeling:label", slug, number)
    if kept:
        return page(request, study, own(round_, rater, bug), filled=kept)
    return _next(request, study, after=assignment)


def not_meant(request: Request) -> str:
    """What to say where one rater's page is sent while another is signed in: the answer is nobody else's."""
    rater, me = request.POST.get("rater", ""), request.user.get_username()
    if rater in ("", me):
        return ""
    return f"This is the page of {rater}, and {me} is signed in here by now. Nothing was stored; it is kept on this device."


def _act(request: Request, assignment: Assignment, filled: forms.Filled) -> forms.Filled | None:
    """Do what the pressed button says. Where one stays at the bug: what its form shows now, kept as a draft."""
    by = request.user
    act = request.POST.get("act", "submit")
    if act in {"submit", "not_a_bug"}:
        _submit(assignment, filled, is_bug=act == "submit", by=by)
    elif act == "skip":
        reason = request.POST.get("skip_reason", "")
        if reason not in forms.SKIP_REASONS:
            raise BadInput("Choose a reason why the bug is skipped.")
        actions.skip(assignment=assignment, reason=reason, note=request.POST.get("skip_note", "").strip(), by=by)
    elif act == "park":
        actions.save_draft(assignment=assignment, draft=filled.as_draft(), by=by)
        actions.park(assignment=assignment, by=by)
    elif act == "further":
        actions.note_further_bug(assignment=assignment, note=request.POST.get("further", ""), by=by)
        return _kept(assignment, filled, by=by)
    elif act.startswith(PROPOSE):
        return _kept(assignment, _proposed(request, assignment, filled, key=act.removeprefix(PROPOSE)), by=by)
    else:
        raise BadInput("The page sent an act that is not known. Load it again.")
    return None


def _kept(assignment: Assignment, filled: forms.Filled, *, by: User) -> forms.Filled:
    actions.save_draft(assignment=assignment, draft=filled.as_draft(), by=by)
    return filled


def _proposed(request: Request, assignment: Assignment, filled: forms.Filled, *, key: str) -> forms.Filled:
    """The code is chosen at once, in the place of what was chosen, or with it where the facet takes several."""
    round_, sent = assignment.round, request.POST
    made = proposals.propose(
        assignment=assignment,
        facet=proposals.facet_of(round_, key),
        name=sent.get(f"code_name-{key}", ""),
        definition=sent.get(f"code_definition-{key}", ""),
        example=sent.get(f"code_example-{key}", ""),
        by=request.user,
    )
    before = filled.answers.get(key, ()) if made.category.facet.is_many else ()
    return replace(filled, answers={**filled.answers, key: (*before, made.category.uid)})


def _submit(assignment: Assignment, filled: forms.Filled, *, is_bug: bool, by: User) -> None:
    if not is_bug and not filled.not_a_bug:
        raise BadInput("Choose a reason why it is not a bug.")
    submission = filled.submission(is_bug=is_bug)
    if filled.revision != assignment.revision and submission.key != assignment.submission_key:
        raise Refused("This bug was answered elsewhere since the page was opened. Reload it, compare, and save again.")
    actions.submit(assignment=assignment, submission=submission, by=by)


def _next(request: Request, study: Study, *, after: Assignment) -> HttpResponse:
    """The answer to a submission is the next bug."""
    round_ = after.round
    assignment = turns.next_turn(round_, request.user)
    if assignment is None:
        back = {"is_swap": True, "previous_url": bug_url(study, round_, after.bug.number)}
        response = swapped(request, "labeling/_done.html", frame_of(study, round_) | back)
        response["HX-Push-Url"] = reverse("labeling:label", args=[study.slug, round_.number])
        return response
    response = page(request, study, assignment, before=after.bug.number)
    response["HX-Push-Url"] = bug_url(study, round_, assignment.bug.number)
    return response


def page(
    request: Request,
    study: Study,
    assignment: Assignment,
    *,
    filled: forms.Filled | None = None,
    problem: str = "",
    before: int | None = None,
) -> HttpResponse:
    """One bug: the whole page, or for a swap its main part, without the text that the browser has fetched ahead."""
    round_ = assignment.round
    if not round_.is_open:
        return closed(request, study, assignment)
    number = str(assignment.bug.number)
    context: dict[str, Any] = frame_of(study, round_) | {
        "assignment": assignment,
        "source": None if number in request.headers.get("X-Fetched", "").split(",") else turns.source_at(assignment),
        "problem": problem,
        "rater": request.user.get_username(),
        "draft_key": f"{request.user.get_username()}/{study.slug}/{round_.number}/{number}",
        "place": assignment.position + 1,
        "total": turns.share(round_, assignment.rater_id),
        "is_swap": is_swap(request),
        "has_evidence": protocol_of(study).reproduction_first,
        "news": _news(request, assignment),
        **_answer_side(assignment, filled or turns.kept(assignment)),
        **_ways(study, assignment, before=before),
    }
    if is_swap(request):
        return swapped(request, "labeling/_turn.html", context, status=422 if problem else 200)
    study.my_roles = roles_in(request.user, study)
    return render(request, "labeling/label.html", context, status=422 if problem else 200)


def _news(request: Request, assignment: Assignment) -> News | None:
    """What changed since the rater's last bug: a form says what it showed; asked anew only where something changed."""
    round_ = assignment.round
    codebook, opened = round_.study.codebook, round_.codebook_version
    if request.method == "POST":
        return news_since(codebook, whole(request.POST.get("codebook", "")))
    if opened is None or opened.number == codebook.number:
        return None
    return news_since(codebook, last_seen(round_, request.user))


def _answer_side(assignment: Assignment, filled: forms.Filled) -> dict[str, Any]:
    panel = panel_of(assignment.round.study.codebook)
    codes = proposals.codes_for(assignment.round, assignment.rater_id) if panel.open_questions else []
    suggested = suggesting.for_turn(assignment, assignment.round)
    return {
        "filled": filled,
        "panel": panel,
        "gone": panel.gone_among(filled.chosen),
        "facets": panel.marked(filled.chosen, codes, suggested),
        "reasons": panel.reasons_marked(filled.not_a_bug),
        "reason": panel.reason_names.get(filled.not_a_bug, filled.not_a_bug),
        "is_not_a_bug": assignment.state == State.SUBMITTED and bool(assignment.not_a_bug_reason),
        "further": turns.further_notes(assignment),
        "confidences": Assignment.Confidence.choices,
        "skip_reasons": forms.SKIP_REASONS,
        "can_skip": assignment.state in {State.TODO, State.CLAIMED, State.PARKED},
        "can_park": assignment.state in {State.TODO, State.CLAIMED},
        "draft_at": assignment.draft_at.isoformat() if assignment.draft_at else "",
    }


def _ways(study: Study, assignment: Assignment, *, before: int | None) -> dict[str, Any]:
    """Where one can go from a bug; `before` is the one left just now, where that is known."""
    here = bug_url(study, assignment.round, assignment.bug.number)
    previous, after = before or turns.before(assignment), turns.after(assignment)
    return {
        "bug_url": here,
        "previous_url": bug_url(study, assignment.round, previous) if previous else "",
        "next_number": after,
        "next_url": bug_url(study, assignment.round, after) if after else "",
        "sign_in_url": f"{reverse('account_login')}?{urlencode({'next': here})}",
    }


def swapped(request: Request, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """A fragment: it shows nothing of the page's frame, so nothing of it is made ready."""
    html = get_template(template).render(context | {"csrf_token": get_token(request)})
    return HttpResponse(html, status=status)


def frame_of(study: Study, round_: Round) -> dict[str, Any]:
    return {"study": study, "round": round_, "mine_url": reverse("labeling:mine", args=[study.slug, round_.number])}


def bug_url(study: Study, round_: Round, bug: int) -> str:
    return reverse("labeling:bug", args=[study.slug, round_.number, bug])


def done(request: Request, study: Study, round_: Round) -> HttpResponse:
    return render(request, "labeling/label_done.html", frame_of(study, round_))


def closed(request: Request, study: Study, assignment: Assignment) -> HttpResponse:
    """After the close: the rater's own answers as they stand."""
    context = frame_of(study, assignment.round) | {
        "assignment": assignment,
        "source": turns.source_at(assignment),
        "answers": turns.own_answers(assignment),
        "filled": turns.kept(assignment),
        "reason": choices_of(study.codebook).reasons.get(assignment.not_a_bug_reason, assignment.not_a_bug_reason),
        "bug_url": bug_url(study, assignment.round, assignment.bug.number),
    }
    return render(request, "labeling/label_closed.html", context)


@login_required
@require_GET
def read(request: Request, slug: str, number: int, bug: int) -> HttpResponse:
    """The text of a bug alone, fetched ahead."""
    study, round_, rater = rater_in(request, slug, number)
    assignment = own(round_, rater, bug)
    context = frame_of(study, round_) | {
        "assignment": assignment,
        "source": turns.source_at(assignment),
        "has_evidence": protocol_of(study).reproduction_first,
        "bug_url": bug_url(study, round_, bug),
    }
    return swapped(request, "labeling/_source.html", context)


@login_required
@require_GET
def file(request: Request, slug: str, number: int, bug: int, position: int) -> HttpResponse:
    """The diff of one file that was too long to come with the page."""
    study, round_, rater = rater_in(request, slug, number)
    assignment = own(round_, rater, bug)
    found = file_of(assignment.bug, position)
    if found is None:
        raise Http404("The copy holds no diff of this file.")
    changed, table = found
    if is_swap(request):
        return HttpResponse(table)
    context = frame_of(study, round_) | {"file": changed, "table": table, "bug_url": bug_url(study, round_, bug)}
    return render(request, "labeling/label_file.html", context)


@login_required
@require_POST
def draft(request: Request, slug: str, number: int, bug: int) -> HttpResponse:
    """Keep what is not submitted yet. The answer says when it was kept."""
    _, round_, rater = rater_in(request, slug, number)
    if problem := not_meant(request):
        return JsonResponse({"detail": problem}, status=403)
    assignment = own(round_, rater, bug)
    known = request.POST.get("draft_at", "")
    theirs = assignment.draft_at.isoformat() if assignment.draft_at else ""
    filled = replace(forms.read(request.POST), revision=assignment.revision)
    if request.POST.get("force") != "yes" and (
        theirs != known or forms.read(request.POST).revision != assignment.revision
    ):
        return JsonResponse({"detail": "Changed elsewhere since this page was opened.", "kept_at": theirs}, status=409)
    kept_at = actions.save_draft(assignment=assignment, draft=filled.as_draft(), by=rater)
    return JsonResponse({"kept_at": kept_at.isoformat()})


@login_required
@require_GET
def again(request: Request, slug: str, number: int) -> HttpResponse:
    """The rater's own answers that a change of the codebook may concern: a second look is everybody's own choice."""
    study, round_, rater = rater_in(request, slug, number)
    opened = round_.codebook_version.number if round_.codebook_version else 0
    since = whole(request.GET.get("since", "")) or opened
    news = news_since(study.codebook, since) if round_.is_open else None
    looks = second_looks(round_, rater, news) if news else []
    return render(request, "labeling/again.html", frame_of(study, round_) | {"news": news, "looks": looks})


@login_required
@require_GET
def mine(request: Request, slug: str, number: int) -> HttpResponse:
    """The rater's own bugs in a round, by state."""
    study, round_, rater = rater_in(request, slug, number)
    wanted = request.GET.get("state", "")
    state = wanted if wanted in turns.SHOWN_STATES else ""
    after = whole(request.GET.get("after", ""))
    rows = turns.own_list(round_, rater, state=state, after=-1 if after is None else after)
    context = frame_of(study, round_) | {
        "rows": rows.rows,
        "next_after": rows.next_after,
        "state": state,
        "states": [("", "All"), *((value, State(value).label) for value in turns.SHOWN_STATES)],
    }
    return render(request, "labeling/mine.html", context)
