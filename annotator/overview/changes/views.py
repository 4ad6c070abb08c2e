"""Pages of the codebook's changes: each with what it would touch, its reason, and what takes it back."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.codebook import actions, living
from annotator.codebook.meanwhile import ChangedMeanwhile
from annotator.codebook.models import Category, Change, Codebook
from annotator.overview.changes import changing, relabelling
from annotator.overview.changes.forms import ChangeForm, MergeForm, RedefineForm, RetireForm, SplitForm
from annotator.overview.changes.listing import Line, line_of, lines_of, page_of
from annotator.overview.changes.previewing import Preview, preview
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput, Refused
from annotator.web.numbers import whole

Act = Change.Act


@login_required
@require_GET
def list_changes(request: Request, slug: str) -> HttpResponse:
    """What waits, what is to be labelled again, and every change with what takes it back."""
    study, codebook = _find(request, slug)
    shown = page_of(codebook, before=whole(request.GET.get("before", "")))
    context = {
        "study": study,
        "codebook": codebook,
        "is_lead": Role.LEAD in study.my_roles,
        "waiting": lines_of(living.waiting(codebook)),
        "waits_for": changing.open_rounds(study),
        "due": [(line_of(change), due) for change, due in relabelling.waiting(study)],
        "lines": shown.lines,
        "before": shown.before,
    }
    return render(request, "overview/changes/list.html", context)


@login_required
@require_GET
def change(request: Request, slug: str, number: int) -> HttpResponse:
    study, codebook = _find(request, slug)
    return change_page(request, study, line_of(_change(codebook, number)))


def change_page(request: Request, study: Study, line: Line, *, problem: str = "", status: int = 200) -> HttpResponse:
    row = line.change
    context = {
        "study": study,
        "line": line,
        "change": row,
        "is_lead": Role.LEAD in study.my_roles,
        "waits_for": changing.open_rounds(study) if line.is_waiting or row.act in living.WAITING else [],
        "preview": line.preview,
        "due": relabelling.due_to(row),
        "rounds": relabelling.rounds_due_to(row),
        "answered_since": changing.answered_since(row) if line.can_undo and row.act in living.WAITING else None,
        "problem": problem,
        "reason": request.POST.get("reason", ""),
    }
    return render(request, "overview/changes/change.html", context, status=status)


@login_required
@require_POST
def undo(request: Request, slug: str, number: int) -> HttpResponse:
    reason = request.POST.get("reason", "").strip()
    return _act(
        request, slug, number, lambda row: changing.undo(change=row, by=request.user, reason=reason), said="is undone"
    )


@login_required
@require_POST
def withdraw(request: Request, slug: str, number: int) -> HttpResponse:
    reason = request.POST.get("reason", "").strip()
    return _act(
        request,
        slug,
        number,
        lambda row: living.withdraw_change(change=row, by=request.user, reason=reason),
        said="is withdrawn",
    )


@login_required
@require_POST
def carry_out(request: Request, slug: str, number: int) -> HttpResponse:
    """A change that waited, now that no round is open."""
    return _act(
        request, slug, number, lambda row: changing.carry_out(change=row, by=request.user), said="has taken effect"
    )


def _act(request: Request, slug: str, number: int, act: Callable[[Change], Change], *, said: str) -> HttpResponse:
    study, codebook = _find(request, slug)
    row = _change(codebook, number)
    try:
        done = act(row)
    except (BadInput, Refused) as problem:
        return change_page(request, study, line_of(row), problem=str(problem), status=problem.status)
    waits = " once no round is open" if done.applied_at is None and done.withdrawn_at is None else ""
    messages.success(request, f"Change {number} {said}{waits}.")
    return redirect("changes:change", slug, done.number)


@login_required
@require_POST
def relabel(request: Request, slug: str, number: int) -> HttpResponse:
    """Open the relabel round of what the change touched."""
    study, codebook = _find(request, slug)
    row = _change(codebook, number)
    try:
        opened = relabelling.open_relabel_round(change=row, by=request.user)
    except (BadInput, Refused) as problem:
        return change_page(request, study, line_of(row), problem=str(problem), status=problem.status)
    messages.success(request, f"{opened.name} is open.")
    return redirect("labeling:round", slug, opened.number)


# --- a category


@login_required
@require_http_methods(["GET", "POST"])
def merge(request: Request, slug: str, uid: str) -> HttpResponse:
    study, row = _category(request, slug, uid)
    asked = request.POST if request.method == "POST" else request.GET.copy()
    if request.method == "GET":
        asked["version"] = asked.get("version") or str(row.facet.codebook.number)
    form = MergeForm(asked if asked.get("into") or request.method == "POST" else None, category=row)
    is_chosen = form.is_bound and not form.errors.get("into") and not form.errors.get("also")
    shown = (
        preview(row.facet, act=Act.MERGE, touched=form.sources, into=form.cleaned_data["into"]) if is_chosen else None
    )
    if request.method == "GET" and form.is_bound:
        form.errors.pop("reason", None)
    if request.htmx:
        return render(request, "overview/changes/_preview.html", {"preview": shown, "study": study})

    def do() -> Change:
        rows = {each.uid: each for each in row.facet.categories.select_related("facet__codebook", "parent")}
        return changing.make(
            study,
            living.merge_categories,
            sources=[rows[source] for source in form.sources],
            into=rows[form.cleaned_data["into"]],
            reason=form.cleaned_data["reason"],
            seen=form.cleaned_data["version"],
            by=request.user,
        )

    return _fill_in(request, study, row, form, act="merge", shown=shown, do=do)


@login_required
@require_http_methods(["GET", "POST"])
def split(request: Request, slug: str, uid: str) -> HttpResponse:
    study, row = _category(request, slug, uid)
    asked = request.POST if request.method == "POST" else request.GET
    rows = whole(asked.get("rows", "")) or 3
    form = SplitForm(request.POST if request.method == "POST" else None, category=row, rows=rows)

    def do() -> Change:
        return changing.make(
            study,
            living.split_category,
            category=row,
            parts=form.parts(),
            reason=form.cleaned_data["reason"],
            seen=form.cleaned_data["version"],
            by=request.user,
        )

    shown = preview(row.facet, act=Act.SPLIT, touched=[row.uid])
    return _fill_in(request, study, row, form, act="split", shown=shown, do=do)


@login_required
@require_http_methods(["GET", "POST"])
def redefine(request: Request, slug: str, uid: str) -> HttpResponse:
    """What belongs in the category changes."""
    study, row = _category(request, slug, uid)
    form = RedefineForm(request.POST if request.method == "POST" else None, category=row)

    def do() -> Change:
        return changing.make(
            study,
            living.redefine_category,
            category=row,
            change=form.change(),
            reason=form.cleaned_data["reason"],
            seen=form.cleaned_data["version"],
            by=request.user,
        )

    shown = preview(row.facet, act=Act.REDEFINE, touched=[row.uid])
    return _fill_in(request, study, row, form, act="redefine", shown=shown, do=do)


@login_required
@require_http_methods(["GET", "POST"])
def retire(request: Request, slug: str, uid: str) -> HttpResponse:
    study, row = _category(request, slug, uid)
    form = RetireForm(request.POST if request.method == "POST" else None, category=row)

    def do() -> Change:
        filled = form.cleaned_data
        actions.remove_category(category=row, by=request.user, reason=filled["reason"], seen=filled["version"])
        return Change.objects.filter(codebook=row.facet.codebook).latest("number")

    shown = preview(row.facet, act=Act.RETIRE, touched=[row.uid])
    return _fill_in(request, study, row, form, act="retire", shown=shown, do=do)


def _fill_in(
    request: Request,
    study: Study,
    row: Category,
    form: ChangeForm,
    *,
    act: str,
    shown: Preview | None,
    do: Callable[[], Change],
) -> HttpResponse:
    meanwhile, status = None, 200
    if request.method == "POST" and request.POST.get("act") != "preview":
        if form.is_valid():
            try:
                done = do()
            except ChangedMeanwhile as told:
                meanwhile, status = told, told.status
                form.data = request.POST.copy()
                form.data["version"] = str(told.now)
            except (BadInput, Refused) as problem:
                form.add_error(None, str(problem))
                status = problem.status
            else:
                messages.success(request, _said(done))
                return redirect("changes:change", study.slug, done.number)
        else:
            status = 400
    context: dict[str, Any] = {
        "study": study,
        "category": row,
        "facet": row.facet,
        "form": form,
        "act": act,
        "preview": shown,
        "meanwhile": meanwhile,
    }
    return render(request, f"overview/changes/{act}.html", context, status=status)


def _said(done: Change) -> str:
    line = line_of(done)
    return f"{line.says}." if done.applied_at else f"Planned: {line.says}. It waits for the end of open rounds."


# --- finding


def _find(request: Request, slug: str) -> tuple[Study, Codebook]:
    """Reading is for everybody in the study, changing for its leads."""
    study = study_for(request.user, slug, *([Role.LEAD] if request.method == "POST" else []))
    codebook = Codebook.objects.filter(study=study).first()
    if codebook is None:
        raise Http404("The study has no codebook yet.")
    codebook.study = study
    return study, codebook


def _change(codebook: Codebook, number: int) -> Change:
    rows = Change.objects.select_related("facet", "by", "undoes", "version")
    found = get_object_or_404(rows, codebook=codebook, number=number)
    found.codebook = codebook
    return found


def _category(request: Request, slug: str, uid: str) -> tuple[Study, Category]:
    study = study_for(request.user, slug, Role.LEAD)
    rows = Category.objects.filter(facet__codebook__study=study, state=Category.State.ACTIVE)
    found = get_object_or_404(rows.select_related("facet__codebook__study", "parent"), uid=uid)
    return study, found
