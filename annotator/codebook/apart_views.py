"""Notes on how to tell categories apart: read by everybody in the study, written by its leads."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from annotator.accounts.http import Request
from annotator.codebook import tell_apart
from annotator.codebook.forms import ApartForm
from annotator.codebook.models import Category, Codebook, Facet, TellApart
from annotator.codebook.views import page
from annotator.studies.access import study_for
from annotator.studies.models import Role
from annotator.web.errors import BadInput


@login_required
@require_http_methods(["GET", "POST"])
def notes(request: Request, slug: str, facet: str) -> HttpResponse:
    """All notes of a facet, and a form for one pair; an empty text withdraws the pair's note."""
    study = study_for(request.user, slug, *([Role.LEAD] if request.method == "POST" else []))
    codebook = get_object_or_404(Codebook, study=study)
    row = get_object_or_404(Facet.objects.select_related("codebook"), codebook=codebook, key=facet, retired_at=None)
    if request.method == "POST":
        form = ApartForm(request.POST, facet=row)
        if form.is_valid():
            try:
                said = keep(form, row, by=request)
            except BadInput as problem:
                form.add_error("text", str(problem))
            else:
                messages.success(request, said)
                return redirect("codebook:apart", slug, facet)
    else:
        form = ApartForm(facet=row, initial=asked(row, request.GET.get("first", ""), request.GET.get("second", "")))
    listed = TellApart.objects.in_use().filter(first__facet=row).select_related("by")
    return page(request, study, codebook, "codebook/apart.html", form=form, facet=row, notes=listed)


def keep(form: ApartForm, facet: Facet, *, by: Request) -> str:
    first, second = (pair_of(facet, form.cleaned_data[name]) for name in ("first", "second"))
    text = form.cleaned_data["text"].strip()
    before = tell_apart.current(first, second)
    if text:
        tell_apart.write_note(first=first, second=second, text=text, by=by.user)
        return "The note is kept. Raters see it as soon as either category is chosen."
    if before is None:
        raise BadInput("Write how to tell them apart.")
    tell_apart.withdraw_note(note=before, by=by.user)
    return "The note is withdrawn."


def pair_of(facet: Facet, uid: str) -> Category:
    rows = Category.objects.filter(facet=facet, state=Category.State.ACTIVE).select_related("facet__codebook")
    found = rows.filter(uid=uid).first()
    if found is None:
        raise Http404("There is no such category.")
    return found


def asked(facet: Facet, first: str, second: str) -> dict[str, str]:
    """The pair that a link names, with the note that it has."""
    pair = [Category.objects.filter(facet=facet, uid=uid).first() for uid in (first, second)]
    if None in pair:
        return {}
    one, other = (each for each in pair if each)
    note = tell_apart.current(one, other)
    return {"first": first, "second": second, "text": note.text if note else ""}
