"""The bugs of a study. Answers are shown of rounds that are no longer open alone."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotator.accounts.http import Request
from annotator.adjudication.names import is_nameless
from annotator.codebook.models import Category, Facet
from annotator.collection.thread import thread_of
from annotator.labeling import follow_up
from annotator.labeling.models import Assignment, Round
from annotator.labeling.source import file_of, last_edit, source_of
from annotator.overview.bugs import showing
from annotator.overview.rounds import choosing
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole


@login_required
@require_GET
def list_bugs(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    facets = showing.asked(study)
    filters = _filters(request.GET, facets)
    before = whole(request.GET.get("before", ""))
    found = showing.page(
        study, filters, facets, viewer=request.user, after=whole(request.GET.get("after", "")) or 0, before=before
    )
    if "go" in request.GET and (meant := showing.meant(study, filters, found)):
        return redirect("bugs:bug", slug, meant)
    context = {
        "study": study,
        "filters": filters,
        "is_narrowed": filters != showing.Filters(),
        "facets": facets,
        "page": found,
        "states": showing.STATES,
        "repositories": choosing.repositories(study),
        "rounds": Round.objects.filter(study=study).order_by("number"),
        "choices": _choices(facets, filters),
        "next_url": _turned(request.GET, after=found.next_after),
        "previous_url": _turned(request.GET, before=found.previous_before),
    }
    return render(request, "overview/bugs.html", context)


def _filters(sent: QueryDict, facets: list[Facet]) -> showing.Filters:
    labels = {facet.key: sent.get(facet.key, "").strip() for facet in facets}
    return showing.Filters(
        words=sent.get("q", "").strip()[:200],
        repository=sent.get("repository", ""),
        round=sent.get("round", ""),
        state=sent.get("state", ""),
        labels={facet: uid for facet, uid in labels.items() if uid.isascii() and uid.isalnum()},
    )


def _choices(facets: list[Facet], filters: showing.Filters) -> list[dict[str, Any]]:
    """Each facet with its categories, for the filters."""
    rows = Category.objects.filter(facet__in=facets, state=Category.State.ACTIVE).order_by("position", "pk")
    by_facet: dict[int, list[Category]] = {}
    for category in rows:
        by_facet.setdefault(category.facet_id, []).append(category)
    return [
        {"facet": facet, "categories": by_facet.get(facet.pk, []), "chosen": filters.labels.get(facet.key, "")}
        for facet in facets
    ]


def _turned(sent: QueryDict, **place: int | None) -> str:
    """The same list at another place, or nothing."""
    ((name, value),) = place.items()
    if value is None:
        return ""
    turned = sent.copy()
    for key in ("after", "before", "go"):
        turned.pop(key, None)
    turned[name] = str(value)
    return f"?{turned.urlencode()}"


def _find(study: Study, number: int) -> Bug:
    rows = Bug.objects.select_related("item__repository", "item__text").annotate(edited_at=last_edit("item"))
    return get_object_or_404(rows, study=study, number=number)


@login_required
@require_GET
def show(request: Request, slug: str, bug: int) -> HttpResponse:
    """Text, diff and context; the final labels and how they came about."""
    study = study_for(request.user, slug)
    found = _find(study, bug)
    previous, following = showing.neighbours(found)
    is_in_hand = bool(showing.in_hand([found], request.user))
    hides_names = is_nameless(found, request.user, study.my_roles)
    read = source_of(found, edited_at=getattr(found, "edited_at", None))
    source, thread = thread_of(study, found.item, read)
    context = {
        "study": study,
        "bug": found,
        "source": source,
        "thread": thread,
        "bug_url": reverse("bugs:bug", args=[study.slug, found.number]),
        "rounds": showing.rounds_of(found),
        "is_in_hand": is_in_hand,
        "is_nameless": hides_names,
        "settled": [] if is_in_hand else showing.settled(found),
        "disputed": [] if is_in_hand else showing.disputed(found),
        "given": [] if is_in_hand else showing.given(found, request.user, is_nameless=hides_names),
        "siblings": showing.siblings(found),
        "previous": previous,
        "next": following,
    }
    return render(request, "overview/bug.html", context)


@login_required
@require_GET
def file(request: Request, slug: str, bug: int, position: int) -> HttpResponse:
    """The diff of one file that was too long to come with the page."""
    study = study_for(request.user, slug)
    found = _find(study, bug)
    shown = file_of(found, position)
    if shown is None:
        raise Http404("The copy holds no diff of this file.")
    changed, table = shown
    if request.htmx:
        return HttpResponse(table)
    return render(request, "overview/bug_file.html", {"study": study, "bug": found, "file": changed, "table": table})


@login_required
@require_POST
def flag(request: Request, slug: str, bug: int) -> HttpResponse:
    """A rater doubts an own answer of a closed round."""
    study = study_for(request.user, slug, Role.RATER)
    found = _find(study, bug)
    turns = Assignment.objects.filter(bug=found, rater=request.user).exclude(round__state=Round.State.OPEN)
    turn = get_object_or_404(turns.select_related("round"), round__number=whole(request.POST.get("round", "")) or 0)
    facet = Facet.objects.filter(codebook__study=study, key=request.POST.get("facet", "")).first()
    if facet is None:
        raise BadInput("Choose the question whose answer you doubt.")
    follow_up.flag(assignment=turn, facet_id=facet.pk, reason=request.POST.get("reason", ""), by=request.user)
    messages.success(request, "Flagged. The answer stands; the lead decides whether it is labelled again.")
    return redirect("bugs:bug", study.slug, found.number)
