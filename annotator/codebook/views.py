"""The codebook: read by everybody in the study, changed by its leads."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.codebook import actions, formats, queries, reading
from annotator.codebook import tree as trees
from annotator.codebook.differing import differences, summary
from annotator.codebook.document import Document
from annotator.codebook.forms import CategoryForm, FacetForm, FileForm, NewFacetForm, initial_then, laid_on_top
from annotator.codebook.meanwhile import ChangedMeanwhile, changed_since
from annotator.codebook.models import Category, Codebook, Facet, Version
from annotator.codebook.plain import MAX_BYTES
from annotator.codebook.wording import sentence
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput, Refused
from annotator.web.numbers import whole


@login_required
@require_GET
def tree(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug)
    codebook = queries.codebook_of(study)
    if codebook is None:
        return render(request, "codebook/none.html", {"study": study, "is_lead": _leads(study)})
    return page(request, study, codebook, "codebook/tree.html")


@login_required
@require_GET
def download(request: Request, slug: str, format_: str = "yaml") -> HttpResponse:
    """The codebook as a file that makes the same one elsewhere; `?version=2` as it was then."""
    study = study_for(request.user, slug)
    codebook, number = _codebook(study), whole(request.GET.get("version", ""))
    if number is None:
        document, name = queries.as_document(codebook), f"{study.slug}-codebook.{format_}"
    else:
        then = get_object_or_404(Version, codebook=codebook, number=number).document
        document, name = reading.to_document(then), f"{study.slug}-codebook-v{number}.{format_}"
    text = formats.written(document.without_builtins(), format_)
    headers = {"Content-Disposition": str(content_disposition_header(True, name))}
    kind, _ = formats.FORMATS[format_]
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=headers)


@login_required
@require_GET
def version(request: Request, slug: str, number: int) -> HttpResponse:
    """The codebook as it was published, and in words what it differs in from an earlier version."""
    study = study_for(request.user, slug)
    codebook = _codebook(study)
    row = get_object_or_404(Version.objects.select_related("published_by"), codebook=codebook, number=number)
    earlier = _earlier(codebook, number, since=whole(request.GET.get("since", "")))
    document = reading.to_document(row.document)
    context = {
        "study": study,
        "codebook": codebook,
        "version": row,
        "earlier": earlier,
        "found": differences(reading.to_document(earlier.document), document) if earlier else [],
        "changes": [(change, sentence(change)) for change in row.changes.select_related("by", "undoes")],
        "numbers": range(number - 1, 0, -1),
        "questions": trees.questions(document),
    }
    return render(request, "codebook/version.html", context)


def _earlier(codebook: Codebook, number: int, *, since: int | None) -> Version | None:
    """The one that is asked for, else the one before."""
    before = Version.objects.filter(codebook=codebook, number__lt=number)
    return (before.filter(number=since).first() if since else None) or before.order_by("-number").first()


@login_required
@require_http_methods(["GET", "POST"])
def upload(request: Request, slug: str) -> HttpResponse:
    """A file in the place of the codebook, while nothing stands on it."""
    study = study_for(request.user, slug, Role.LEAD)
    form = FileForm(request.POST, request.FILES) if request.method == "POST" else FileForm()
    if request.method == "POST" and form.is_valid():
        try:
            document = reading.read(form.cleaned_data["file"].read(MAX_BYTES + 1))
            _take(study, document, by=request.user)
        except (BadInput, Refused) as problem:
            form.add_error("file", str(problem))
        else:
            messages.success(request, f"The codebook is now “{document.title}”.")
            return redirect("codebook:tree", slug)
    codebook = queries.codebook_of(study)
    context = {
        "study": study,
        "form": form,
        "codebook": codebook,
        "in_use": bool(codebook and queries.is_in_use(codebook)),
    }
    return render(request, "codebook/upload.html", context, status=400 if form.errors else 200)


def _take(study: Study, document: Document, *, by: User) -> None:
    codebook = queries.codebook_of(study)
    if codebook is None:
        actions.create_codebook(study=study, document=document, by=by)
    else:
        actions.replace_codebook(codebook=codebook, document=document, by=by)


# --- facets


@login_required
@require_http_methods(["GET", "POST"])
def facet(request: Request, slug: str, facet: str) -> HttpResponse:
    study, codebook = _find(request, slug)
    row = _facet(codebook, facet)
    in_use = queries.is_in_use(codebook) or row.is_verdict
    form = FacetForm(request.POST if request.method == "POST" else None, facet=row, is_fixed=in_use)
    if request.method == "POST" and form.is_valid():
        try:
            seen = form.cleaned_data["version"]
            changed = actions.edit_facet(facet=row, by=request.user, change=form.change(), seen=seen)
        except ChangedMeanwhile as told:
            form.data = request.POST.copy()
            form.data["version"] = str(told.now)
            form.add_error(None, f"{told} Save again to put yours in its place.")
        except (BadInput, Refused) as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"“{changed.name}” is saved.")
            return redirect("codebook:facet", slug, facet)
    return page(request, study, codebook, "codebook/facet.html", form=form, facet=row)


@login_required
@require_http_methods(["GET", "POST"])
def new_facet(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    codebook = _codebook(study)
    form = NewFacetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            key = form.cleaned_data["key"]
            made = actions.add_facet(codebook=codebook, key=key, by=request.user, change=form.change())
        except (BadInput, Refused) as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"“{made.name}” is added. Now give it categories.")
            return redirect("codebook:new_category", slug, made.key)
    return page(request, study, codebook, "codebook/new_facet.html", form=form)


@login_required
@require_POST
def remove_facet(request: Request, slug: str, facet: str) -> HttpResponse:
    _, codebook = _find(request, slug)
    row = _facet(codebook, facet)
    actions.remove_facet(facet=row, by=request.user)
    messages.success(request, f"“{row.name}” is removed.")
    return redirect("codebook:tree", slug)


# --- categories


@login_required
@require_http_methods(["GET", "POST"])
def category(request: Request, slug: str, uid: str) -> HttpResponse:
    study, codebook = _find(request, slug)
    row = _category(codebook, uid)
    form = CategoryForm(request.POST if request.method == "POST" else None, facet=row.facet, category=row)
    meanwhile: ChangedMeanwhile | None = None
    if request.method == "POST" and form.is_valid():
        seen = form.cleaned_data["version"]
        elsewhere = changed_since(codebook, seen)
        try:
            changed = actions.edit_category(category=row, by=request.user, change=form.change(), seen=seen)
        except ChangedMeanwhile as told:
            form, meanwhile = _on_top(request, codebook, row, told), told
        except (BadInput, Refused) as problem:
            form.add_error(_field_of(str(problem)), str(problem))
        else:
            messages.success(request, f"“{changed.name}” is saved.")
            if elsewhere:
                messages.info(request, f"Meanwhile, elsewhere in the codebook: {summary(elsewhere)}.")
            return redirect("codebook:category", slug, uid)
    more = {"facet": row.facet, "category": row, "meanwhile": meanwhile}
    answer = page(request, study, codebook, "codebook/category.html", form=form, **more)
    answer.status_code = 409 if meanwhile else answer.status_code
    return answer


def _on_top(request: Request, codebook: Codebook, row: Category, told: ChangedMeanwhile) -> CategoryForm:
    """The form again, with what was typed laid over what is there now, ready to be saved."""
    then = Version.objects.get(codebook=codebook, number=told.seen).document
    base = initial_then(reading.to_document(then), row.facet.key, row.uid)
    row = _category(codebook, row.uid)
    now = dict(CategoryForm(facet=row.facet, category=row).initial)
    typed, crossed = laid_on_top(request.POST, base=base | {"version": told.seen}, now=now | {"version": told.now})
    form = CategoryForm(typed, facet=row.facet, category=row)
    form.crossed = [(str(form.fields[name].label), was, is_now) for name, was, is_now in crossed if name in form.fields]
    return form


@login_required
@require_http_methods(["GET", "POST"])
def new_category(request: Request, slug: str, facet: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    codebook = _codebook(study)
    row = _facet(codebook, facet)
    form = CategoryForm(request.POST if request.method == "POST" else None, facet=row)
    if request.method == "POST" and form.is_valid():
        try:
            made = actions.add_category(facet=row, by=request.user, change=form.change())
        except (BadInput, Refused) as problem:
            form.add_error(_field_of(str(problem)), str(problem))
        else:
            messages.success(request, f"“{made.name}” is added.")
            return redirect("codebook:category", slug, made.uid)
    return page(request, study, codebook, "codebook/new_category.html", form=form, facet=row)


@login_required
@require_POST
def remove_category(request: Request, slug: str, uid: str) -> HttpResponse:
    _, codebook = _find(request, slug)
    row = _category(codebook, uid)
    reason, seen = request.POST.get("reason", "").strip(), whole(request.POST.get("version", ""))
    kept = actions.remove_category(category=row, by=request.user, reason=reason, seen=seen)
    messages.success(request, f"“{row.name}” is {'retired' if kept else 'deleted'}.")
    return redirect("codebook:facet", slug, row.facet.key)


@login_required
@require_POST
def restore_category(request: Request, slug: str, uid: str) -> HttpResponse:
    _, codebook = _find(request, slug)
    row = actions.restore_category(category=_category(codebook, uid), by=request.user)
    messages.success(request, f"“{row.name}” is back in use.")
    return redirect("codebook:category", slug, uid)


# --- in common


def page(
    request: Request, study: Study, codebook: Codebook, template: str, *, form: Any = None, **more: Any
) -> HttpResponse:
    """The tree on the left, the versions on the right, what is looked at between them."""
    document = queries.as_document(codebook)
    context = {
        "study": study,
        "codebook": codebook,
        "is_lead": _leads(study),
        "in_use": queries.is_in_use(codebook),
        "questions": trees.questions(document),
        "versions": codebook.versions.select_related("published_by").defer("document").order_by("-number")[:30],
        "form": form,
        **more,
        **_keys(document, more.get("facet"), more.get("category")),
    }
    return render(request, template, context, status=400 if form is not None and form.errors else 200)


def _keys(document: Document, facet: Facet | None, category: Category | None) -> dict[str, Any]:
    """For the check of a hotkey while it is typed."""
    mine = document.facet(facet.key) if facet else None
    if mine is None:
        return {}
    taken = trees.taken_keys(document, mine, besides=category.uid if category else "")
    return {"taken": json.dumps(taken), "free": trees.free_keys(taken)[:8], "question": trees.question(mine)}


def _field_of(problem: str) -> str | None:
    return "hotkey" if problem.startswith("The key ") else None


def _find(request: Request, slug: str) -> tuple[Study, Codebook]:
    """Reading is for everybody in the study, changing for its leads."""
    roles = [Role.LEAD] if request.method == "POST" else []
    study = study_for(request.user, slug, *roles)
    return study, _codebook(study)


def _codebook(study: Study) -> Codebook:
    codebook = queries.codebook_of(study)
    if codebook is None:
        raise Http404("The study has no codebook yet.")
    return codebook


def _facet(codebook: Codebook, key: str) -> Facet:
    return get_object_or_404(Facet, codebook=codebook, key=key, retired_at=None)


def _category(codebook: Codebook, uid: str) -> Category:
    rows = Category.objects.exclude(state=Category.State.PROPOSED).select_related("facet__codebook", "parent")
    return get_object_or_404(rows, facet__codebook=codebook, uid=uid)


def _leads(study: Study) -> bool:
    return Role.LEAD in study.my_roles
