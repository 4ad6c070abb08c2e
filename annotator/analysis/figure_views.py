"""Figures: asked for, drawn by a worker, kept under an address of their own."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.analysis import actions
from annotator.analysis.asked import CHOICES, COMPARISON, KINDS, OF_EVERY_KIND, USES, read_asked
from annotator.analysis.formats import FORMATS
from annotator.analysis.kept import PICTURES, Kept, asked_of, drawing_for, file_of, kept, listed
from annotator.analysis.layout import section
from annotator.analysis.models import Drawing
from annotator.analysis.permitted import allowed
from annotator.analysis.published import published_in
from annotator.analysis.relating import comparable
from annotator.analysis.tables import Tables
from annotator.analysis.wording import in_words
from annotator.analysis.writing import attached
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.errors import BadInput
from annotator.web.wake import wake

TASK = "annotator.analysis.tasks.draw"
AGAIN_AFTER = 3  # seconds
LOOKS = ("show", "shape", "order", "colours", "fill")


@login_required
@require_http_methods(["GET", "POST"])
def figures(request: Request, slug: str) -> HttpResponse:
    """All figures of the study; POST asks for one."""
    study = study_for(request.user, slug)
    if request.method == "GET":
        facets = comparable(study)
        rows = [line_of(row, facets) for row in listed(study, request.user)]
        return render(request, "analysis/figures.html", {"study": study, "rows": rows})
    drawing = ask(request, study)
    return redirect("analysis:figure", study.slug, drawing.key)


def line_of(drawing: Drawing, facets: dict[str, str]) -> dict[str, Any]:
    """A figure in the list: what it is called, and what was asked."""
    first, *more = in_words(asked_of(drawing), facets)
    title = drawing.asked.get("title")
    return {
        "row": drawing,
        "title": title or ": ".join([first, *more[:1]]),
        "asked": [first, *more] if title else more[1:],
    }


def ask(request: Request, study: Study) -> Drawing:
    given: dict[str, Any] = {name: value for name, value in request.POST.items() if value}
    kind = given.get("kind", "")
    if like := given.pop("like", ""):  # another look of a figure: what it compares with comes along
        given["published"] = drawing_for(study, request.user, like).asked.get("published", {})
    elif kind == COMPARISON and not given.get("other"):
        upload = request.FILES.get("file")
        given["published"] = published_in(upload.read() if upload else given.get("counts", "").encode())
    asked = allowed(study, request.user, read_asked(kind, given))
    drawing = actions.ask(study=study, asked=asked, by=request.user)
    wake(TASK, drawing.pk)
    return drawing


@login_required
@require_GET
def figure(request: Request, slug: str, key: str) -> HttpResponse:
    """The picture as last drawn, at once; where its numbers have changed since, a worker is woken and the page says so."""
    study = study_for(request.user, slug)
    one = kept(drawing_for(study, request.user, key))
    actions.opened(one.drawing)
    context = {
        "study": study,
        "one": one,
        "section": section(study, one.asked, one.sheet) if one.sheet else None,
        "pictures": PICTURES,
        "formats": FORMATS,
        "kinds": KINDS,
        "facets": Tables(study).used(),
        "looks": {name: CHOICES[name] for name in LOOKS if name in (*OF_EVERY_KIND, *USES[one.asked.kind])},
        "chosen": one.asked.document(),
    }
    page = render(request, "analysis/figure.html", context)
    if is_underway(one):
        wake(TASK, one.drawing.pk)
        page.headers["Refresh"] = str(AGAIN_AFTER)
    return page


def is_underway(one: Kept) -> bool:
    return one.is_stale and one.drawing.state != Drawing.State.FAILED


@login_required
@require_GET
def figure_file(request: Request, slug: str, key: str, format_: str) -> HttpResponse:
    """The picture, or the numbers that it shows, as they were last drawn: the same bytes from the same data."""
    study = study_for(request.user, slug)
    drawing = drawing_for(study, request.user, key)
    if not drawing.drawn_of:
        raise Http404("This figure is not drawn yet.")
    try:
        type_, content = file_of(drawing, format_)
    except BadInput as problem:
        raise Http404(str(problem)) from None
    response = HttpResponse(content, content_type=type_)
    response.headers["ETag"] = f'"{drawing.drawn_of[:32]}-{format_}"'
    if format_ == "svg" and "inline" in request.GET:
        return response
    actions.opened(drawing)
    return attached(response, f"{study.slug}-{drawing.asked['kind']}-{key[:8]}", format_)
