"""The editor of path rules: what each takes, in which order, and how they stand beside what was settled."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.adjudication.derived import derive
from annotator.codebook.models import Category, Facet
from annotator.codebook.path_rules import Rule, as_json, import_rules, read_rules, set_rules
from annotator.codebook.plain import MAX_BYTES
from annotator.overview.rules import standing
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput, Refused
from annotator.web.numbers import whole

BLANK_ROWS = 2


@login_required
@require_http_methods(["GET", "POST"])
def rules(request: Request, slug: str, facet: str) -> HttpResponse:
    """Read by everybody in the study, written by its leads."""
    study = study_for(request.user, slug, *([Role.LEAD] if request.method == "POST" else []))
    row = facet_in(study, facet)
    if request.method == "GET":
        return page(request, study, row, repository=request.GET.get("repository"))
    act = ACTS.get(request.POST.get("act", "save").partition(":")[0], save)
    try:
        said = act(row, request, by=request.user)
    except (BadInput, Refused) as problem:
        return page(request, study, row, repository=request.POST.get("repository"), problem=str(problem))
    messages.success(request, said)
    query = urlencode({"repository": request.POST.get("repository", "")})
    return redirect(f"{request.path}?{query}")


def facet_in(study: Study, key: str) -> Facet:
    rows = Facet.objects.select_related("codebook").exclude(key=Facet.VERDICT)
    return get_object_or_404(rows, codebook__study=study, key=key, retired_at=None)


def sent_rules(sent: Any) -> list[Rule]:
    """In the order of the page's rows; a row without a prefix is none."""
    rows = zip(sent.getlist("prefix"), sent.getlist("category"), sent.getlist("note"), strict=False)
    return [Rule(prefix.strip(), category, note.strip()) for prefix, category, note in rows if prefix.strip()]


def save(facet: Facet, request: Request, *, by: User) -> str:
    """As the rows stand; `move:3:-1` and `drop:3` alter them first."""
    listed = sent_rules(request.POST)
    what, _, rest = request.POST.get("act", "save").partition(":")
    place, _, step = rest.partition(":")
    at = whole(place)
    if what == "move" and at is not None and at < len(listed):
        to = at + (-1 if step == "up" else 1)
        if 0 <= to < len(listed):
            listed[at], listed[to] = listed[to], listed[at]
    if what == "drop" and at is not None and at < len(listed):
        del listed[at]
    repository = request.POST.get("repository", "")
    set_rules(facet=facet, repository=repository, rules=listed, by=by, reason=request.POST.get("reason", ""))
    return f"{len(listed)} rules of {repository or 'any repository'} are kept."


def bring(facet: Facet, request: Request, *, by: User) -> str:
    file = request.FILES.get("file")
    if file is None:
        raise BadInput("Choose a file of rules.")
    found = read_rules(file.read(MAX_BYTES + 1), facet)
    count = import_rules(facet=facet, rules=found, by=by)
    return f"{count} rules of {len(found)} repositories are kept."


def apply(facet: Facet, request: Request, *, by: User) -> str:
    outcome = derive(study=facet.codebook.study, facet=facet, by=by)
    return f"{outcome.labelled} bugs labelled by rule, {outcome.same} as before, {outcome.left} left open."


ACTS: dict[str, Callable[..., str]] = {"save": save, "move": save, "drop": save, "import": bring, "derive": apply}


def page(request: Request, study: Study, facet: Facet, *, repository: str | None, problem: str = "") -> HttpResponse:
    listed = standing.ruled(study, facet)
    chosen = next((one for one in listed if one.repository == repository), listed[0])
    rows: list[Any] = [
        {"prefix": line.rule.prefix, "category": line.rule.category, "note": line.rule.note, "files": line.files}
        for line in chosen.lines
    ]
    if problem and request.POST.getlist("prefix"):
        rows = [
            {"prefix": rule.prefix, "category": rule.category, "note": rule.note} for rule in sent_rules(request.POST)
        ]
    categories = facet.categories.filter(state=Category.State.ACTIVE, is_not_applicable=False)
    context = {
        "study": study,
        "facet": facet,
        "repositories": listed,
        "chosen": chosen,
        "rows": rows,
        "blanks": range(BLANK_ROWS),
        "categories": list(categories.order_by("position", "pk")),
        "is_lead": Role.LEAD in study.my_roles,
        "report": standing.report(study, facet),
        "problem": problem,
        "here": reverse("ruling:rules", args=[study.slug, facet.key]),
    }
    return render(request, "codebook/rules.html", context, status=400 if problem else 200)


@login_required
@require_GET
def download(request: Request, slug: str, facet: str) -> HttpResponse:
    """A file that makes the same rules elsewhere."""
    study = study_for(request.user, slug)
    row = facet_in(study, facet)
    name = content_disposition_header(True, f"{study.slug}-{row.key}-rules.json")
    return HttpResponse(as_json(row), content_type="application/json", headers={"Content-Disposition": str(name)})
