"""The reading page: one candidate, one request for a vote and the next."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import get_template
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.collection.source import file_of, source_of
from annotator.screening import actions, prepared, turns
from annotator.screening.after_views import show
from annotator.screening.models import Criterion, Reading, Screening, Vote
from annotator.studies.access import roles_in, study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole

State = Reading.State


@dataclass(frozen=True)
class Filled:
    """What the form holds when it comes back."""

    comment: str = ""
    problem: str = ""


def reviewer_in(request: Request, slug: str, number: int) -> tuple[Study, Screening, User]:
    """The study and its screening, for one of the study's raters: one query where all is well."""
    screening = prepared.SCREENING_OF_REVIEWER.first(slug=slug, number=number, user=request.user.pk)
    if screening is None:
        study_for(request.user, slug, Role.RATER)  # says what is missing
        raise Http404("There is no such screening.")
    return screening.study, screening, request.user


def own(screening: Screening, reviewer: User, candidate: int, *, is_shown: bool = True) -> Reading:
    """The reviewer's reading of a candidate. Whether others have it cannot be told from the answer."""
    found = turns.reading_at(screening, reviewer, candidate, is_shown=is_shown)
    if found is None:
        raise Http404("You have no such candidate in this screening.")
    return found


def is_swap(request: Request) -> bool:
    """Whether htmx asked, to put the answer into the page."""
    return bool(request.htmx)


@login_required
@require_GET
def read(request: Request, slug: str, number: int) -> HttpResponse:
    """The reviewer's next candidate."""
    study, screening, reviewer = reviewer_in(request, slug, number)
    reading = turns.next_reading(screening, reviewer) if screening.is_open else None
    return done(request, study, screening) if reading is None else page(request, study, reading)


@login_required
@require_http_methods(["GET", "POST"])
def candidate(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    """A candidate: to vote on while its screening is open, to be looked at and discussed afterwards."""
    if request.method == "GET":
        return look(request, slug, number, candidate)
    study, screening, _ = reviewer_in(request, slug, number)
    reading = own(screening, request.user, candidate, is_shown=False)
    act, comment = request.POST.get("act", ""), request.POST.get("comment", "")
    try:
        taken_back = _act(reading, act, comment, by=request.user)
    except BadInput as problem:
        shown = own(screening, request.user, candidate)
        return page(request, study, shown, filled=Filled(comment, str(problem)))
    if act == "undo":
        if not is_swap(request):
            return redirect(request.path)
        filled = Filled(taken_back.comment if taken_back else "")
        return _again(request, study, own(screening, request.user, candidate), filled)
    if not is_swap(request):
        return redirect("screening:read", slug, number)
    return _next(request, study, screening, voted=None if act == "later" else candidate)


def look(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    study = study_for(request.user, slug)
    screening = get_object_or_404(Screening, study=study, number=number)
    if not screening.is_open:
        return show(request, study, screening, candidate)
    return page(request, study, own(screening, request.user, candidate))


def _act(reading: Reading, act: str, comment: str, *, by: User) -> Vote | None:
    """Do what the pressed button says: include, exclude:E1, later or undo. Gives the vote that was taken back."""
    verb, _, code = act.partition(":")
    if verb in Vote.Decision.values:
        actions.vote(reading=reading, decision=verb, criterion=code, comment=comment, by=by)
    elif verb == "later":
        actions.put_off(reading=reading, by=by)
    elif verb == "undo":
        held = turns.own_vote(reading)
        actions.take_back(reading=reading, by=by)
        return held
    else:
        raise BadInput("The page sent an act that is not known. Load it again.")
    return None


def _next(request: Request, study: Study, screening: Screening, *, voted: int | None) -> HttpResponse:
    """The answer to a vote is the next candidate."""
    reading = turns.next_reading(screening, request.user)
    if reading is None:
        context = frame_of(study, screening) | {"is_swap": True, "undo_url": _undo_url(study, screening, request.user)}
        response = swapped(request, "screening/_done.html", context)
        response["HX-Push-Url"] = reverse("screening:read", args=[study.slug, screening.number])
        return response
    response = page(request, study, reading, before=voted)
    response["HX-Push-Url"] = candidate_url(study, screening, reading.candidate.position)
    return response


def _again(request: Request, study: Study, reading: Reading, filled: Filled) -> HttpResponse:
    """The answer to an undo is the candidate whose vote was taken back, with the comment to keep or change."""
    response = page(request, study, reading, filled=filled)
    response["HX-Push-Url"] = candidate_url(study, reading.screening, reading.candidate.position)
    return response


def page(
    request: Request, study: Study, reading: Reading, *, filled: Filled | None = None, before: int | None = None
) -> HttpResponse:
    """One candidate: the whole page, or for a swap its main part, without the text that the browser has fetched ahead."""
    number = str(reading.candidate.position)
    held = turns.own_vote(reading)
    is_fetched = number in request.headers.get("X-Fetched", "").split(",")
    context: dict[str, Any] = frame_of(study, reading.screening) | {
        "reading": reading,
        "source": None if is_fetched else source_of(reading.candidate.item),
        "vote": held,
        "filled": filled or Filled(held.comment if held else ""),
        "share": turns.share(reading.screening, request.user),
        "draft_key": f"{request.user.get_username()}/{study.slug}/screening/{reading.screening.number}/{number}",
        "is_swap": is_swap(request),
        **criteria_of(study),
        **_ways(study, reading, before=before),
    }
    status = 422 if filled and filled.problem else 200
    if is_swap(request):
        return swapped(request, "screening/_turn.html", context, status=status)
    study.my_roles = roles_in(request.user, study)
    return render(request, "screening/read.html", context, status=status)


def criteria_of(study: Study) -> dict[str, list[Criterion]]:
    """Those that a vote may cite, by kind."""
    active = prepared.CRITERIA.all(study=study.pk)
    return {
        "holding": [one for one in active if one.kind == Criterion.Kind.INCLUDE],
        "keeping_out": [one for one in active if one.kind == Criterion.Kind.EXCLUDE],
    }


def _ways(study: Study, reading: Reading, *, before: int | None) -> dict[str, Any]:
    """Where one can go from a candidate; `before` is the one voted on just now, where that is known."""
    here = candidate_url(study, reading.screening, reading.candidate.position)
    last, after = before or turns.last_voted(reading.screening, reading.reviewer_id), turns.after(reading)
    return {
        "bug_url": here,  # as the parts shared with labelling call it
        "undo_url": candidate_url(study, reading.screening, last) if last else "",
        "next_number": after,
        "next_url": candidate_url(study, reading.screening, after) if after else "",
        "sign_in_url": f"{reverse('account_login')}?{urlencode({'next': here})}",
    }


def swapped(request: Request, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """A fragment: it shows nothing of the page's frame, so nothing of it is made ready."""
    html = get_template(template).render(context | {"csrf_token": get_token(request)})
    return HttpResponse(html, status=status)


def frame_of(study: Study, screening: Screening) -> dict[str, Any]:
    return {
        "study": study,
        "screening": screening,
        "mine_url": reverse("screening:mine", args=[study.slug, screening.number]),
    }


def candidate_url(study: Study, screening: Screening, candidate: int) -> str:
    return reverse("screening:candidate", args=[study.slug, screening.number, candidate])


def _undo_url(study: Study, screening: Screening, reviewer: User) -> str:
    last = turns.last_voted(screening, reviewer.pk) if screening.is_open else None
    return candidate_url(study, screening, last) if last else ""


def done(request: Request, study: Study, screening: Screening) -> HttpResponse:
    study.my_roles = roles_in(request.user, study)
    is_mine = Reading.objects.filter(screening=screening, reviewer=request.user).exists()
    undo_url = _undo_url(study, screening, request.user)
    context = frame_of(study, screening) | {"is_mine": is_mine, "undo_url": undo_url}
    return render(request, "screening/done.html", context)


@login_required
@require_GET
def text(request: Request, slug: str, number: int, candidate: int) -> HttpResponse:
    """The text of a candidate alone, fetched ahead."""
    study, screening, reviewer = reviewer_in(request, slug, number)
    reading = own(screening, reviewer, candidate)
    here = candidate_url(study, screening, candidate)
    context = {"source": source_of(reading.candidate.item), "bug_url": here}
    return swapped(request, "labeling/_source.html", context)


@login_required
@require_GET
def file(request: Request, slug: str, number: int, candidate: int, position: int) -> HttpResponse:
    """The diff of one file that was too long to come with the page."""
    study = study_for(request.user, slug)
    screening = get_object_or_404(Screening, study=study, number=number)
    if screening.is_open:
        item = own(screening, request.user, candidate).candidate.item
    else:
        item = get_object_or_404(screening.candidates.select_related("item"), position=candidate).item
    found = file_of(item, position)
    if found is None:
        raise Http404("The copy holds no diff of this file.")
    changed, table = found
    if is_swap(request):
        return HttpResponse(table)
    context = frame_of(study, screening) | {"file": changed, "table": table}
    context["bug_url"] = candidate_url(study, screening, candidate)
    return render(request, "labeling/label_file.html", context)


@login_required
@require_GET
def mine(request: Request, slug: str, number: int) -> HttpResponse:
    """The reviewer's own candidates in a screening, by state."""
    study, screening, reviewer = reviewer_in(request, slug, number)
    wanted = request.GET.get("state", "")
    state = wanted if wanted in State.values else ""
    after = whole(request.GET.get("after", ""))
    study.my_roles = roles_in(request.user, study)
    found = turns.own_list(screening, reviewer, state=state, after=-1 if after is None else after)
    context = frame_of(study, screening) | {
        "rows": found.rows,
        "next_after": found.next_after,
        "state": state,
        "states": [("", "All"), *State.choices],
    }
    return render(request, "screening/mine.html", context)
