"""Guidance beside a bug: a fragment for one category, and all of it on a page that works without script."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.codebook.models import Category, TellApart
from annotator.labeling.views import bug_url, frame_of, own, rater_in
from annotator.overview.guidance import settled


@dataclass(frozen=True)
class Guide:
    """All that is said of a category."""

    category: Category
    examples: tuple[settled.Example, ...]
    notes: tuple[TellApart, ...]


@login_required
@require_GET
def category(request: Request, slug: str, number: int, bug: int, uid: str) -> HttpResponse:
    """Settled bugs of one category, to be laid into its definition."""
    study, round_, rater = rater_in(request, slug, number)
    turn = own(round_, rater, bug)
    rows = Category.objects.filter(facet__codebook__study=study, state=Category.State.ACTIVE)
    row = get_object_or_404(rows, uid=uid)
    found = settled.examples(turn, [row]).get(row.pk, ())
    return render(request, "labeling/_examples.html", {"study": study, "examples": found})


@login_required
@require_GET
def everything(request: Request, slug: str, number: int, bug: int) -> HttpResponse:
    study, round_, rater = rater_in(request, slug, number)
    turn = own(round_, rater, bug)
    facets = settled.asked(round_)
    rows = Category.objects.filter(facet__in=facets, state=Category.State.ACTIVE, is_not_applicable=False)
    categories = list(rows.select_related("parent").order_by("position", "pk"))
    found = settled.examples(turn, categories)
    notes = list(TellApart.objects.in_use().filter(first__facet__in=facets))
    guides = [
        Guide(
            category=one,
            examples=tuple(found.get(one.pk, ())),
            notes=tuple(note for note in notes if one.pk in (note.first_id, note.second_id)),
        )
        for one in categories
    ]
    context = frame_of(study, round_) | {
        "bug": turn.bug,
        "bug_url": bug_url(study, round_, bug),
        "facets": [(facet, [guide for guide in guides if guide.category.facet_id == facet.pk]) for facet in facets],
        "gives_examples": settled.gives_examples(round_),
    }
    return render(request, "labeling/guidance.html", context)
