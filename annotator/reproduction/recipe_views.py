"""Recipes written, changed, looked at version by version, and taken along."""

import difflib
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.reproduction import actions, proposing, queries, recipes, replaying
from annotator.reproduction.finding import bug_in, recipe_in, version_in
from annotator.reproduction.forms import RecipeForm, YamlForm, with_files
from annotator.reproduction.models import Recipe
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.diff import table
from annotator.web.errors import BadInput, Gathering, Refused
from annotator.web.numbers import whole

Form = RecipeForm | YamlForm
BEGUN = "print('Write here what makes the bug happen.')\n"


@login_required
@require_http_methods(["GET", "POST"])
def new(request: Request, slug: str) -> HttpResponse:
    """For the bug in the address; begun from its pull request."""
    study = study_for(request.user, slug, *queries.WRITERS)
    number = whole(request.GET.get("bug", ""))
    if number is None:
        return render(request, "reproduction/choose_bug.html", {"study": study})
    bug = bug_in(study, number)
    if not queries.is_shown(study, bug, request.user, study.my_roles):
        raise Refused(queries.NOT_YET)
    begun = proposing.propose(bug)
    start = recipes.read(begun.yaml)
    context = {"bug": bug, "unknown": begun.unknown, "others": Recipe.objects.current().filter(bug=bug)}
    return answer(request, study, start, context=context)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: Request, slug: str, number: int) -> HttpResponse:
    """A further version, with why."""
    study = study_for(request.user, slug, *queries.WRITERS)
    row = recipe_in(study, request.user, number)
    start = recipes.from_document(row.document)
    return answer(request, study, start, row=row, context={"bug": row.bug, "recipe": row})


def answer(
    request: Request, study: Study, start: recipes.Recipe, *, row: Recipe | None = None, context: dict[str, Any]
) -> HttpResponse:
    """Show the form, add a row, turn it into the file and back, or store it: what `act` says."""
    act, script = request.POST.get("act", "save"), row.script if row else ""
    if request.method == "GET":
        return shown(request, study, RecipeForm(start=begun(start, row), script=script), context)
    sent = with_files(request.POST, request.FILES)
    if act == "add":
        return shown(request, study, RecipeForm(one_more(sent), start=start, script=script), context)
    form: Form = YamlForm(sent) if "yaml" in sent else RecipeForm(sent, start=start)
    if not form.is_valid():
        return shown(request, study, form, context)
    try:
        if act in ("yaml", "form"):
            return turned(request, study, form, context)
        stored = store(request, form, row, context["bug"])
    except BadInput as problem:
        form.say(problem)
        return shown(request, study, form, context)
    done = f"Version {stored.version} is stored." if row else f"R-{stored.number} is stored. Nothing has run yet."
    messages.success(request, done)
    return redirect("reproduction:recipe", study.slug, stored.number)


def begun(start: recipes.Recipe, row: Recipe | None) -> recipes.Recipe:
    """A proposal's oracle is for the person to say."""
    if row is not None:
        return start
    return replace(start, oracle=None)


def one_more(sent: QueryDict) -> QueryDict:
    """The form as it was sent, with another row of environments."""
    changed = sent.copy()
    changed["e-TOTAL_FORMS"] = str(min((whole(sent.get("e-TOTAL_FORMS", "")) or 0) + 1, recipes.MOST_ENVIRONMENTS))
    return changed


def turned(request: Request, study: Study, form: Form, context: dict[str, Any]) -> HttpResponse:
    """The same recipe in the other form."""
    recipe, sent = form.recipe(), form.cleaned_data
    script = sent["script_text"]
    other: Form
    if isinstance(form, YamlForm):
        other = RecipeForm(start=recipe, script=script)
    else:
        other = YamlForm(initial={"yaml": recipe.yaml(), "script_text": script})
    other.initial["why"] = sent["why"]
    return shown(request, study, other, context)


def store(request: Request, form: Form, row: Recipe | None, bug: Bug) -> Recipe:
    each = Gathering()
    recipe, script = each(form.recipe), each(form.script)
    if row is not None:
        each(actions.checked_why, form.cleaned_data["why"])
    each.refuse()
    if row is None:
        return actions.create_recipe(bug=bug, recipe=recipe, script=script, by=request.user)
    if request.POST.get("version") != str(row.version):
        raise Refused(f"The recipe was changed meanwhile: look at version {row.version} first.")
    return actions.change_recipe(row=row, recipe=recipe, script=script, why=form.cleaned_data["why"], by=request.user)


def shown(request: Request, study: Study, form: Form, context: dict[str, Any]) -> HttpResponse:
    has_errors = form.is_bound and bool(form.errors or (isinstance(form, RecipeForm) and any(form.rows.errors)))
    more = {"study": study, "form": form, "is_yaml": isinstance(form, YamlForm), "example": BEGUN}
    return render(request, "reproduction/write.html", more | context, status=422 if has_errors else 200)


# --- versions and files


@login_required
@require_GET
def version(request: Request, slug: str, number: int, version: int) -> HttpResponse:
    """A version with its script, and what changed in it."""
    study = study_for(request.user, slug)
    row = version_in(study, request.user, number, version)
    before = version_in(study, request.user, number, version - 1) if version > 1 else None
    text = recipes.from_document(row.document).yaml()
    context = {
        "study": study,
        "recipe": row,
        "yaml": text,
        "before": before,
        "changes": changes(before, row, text) if before else [],
    }
    return render(request, "reproduction/version.html", context)


def changes(before: Recipe, row: Recipe, text: str) -> list[tuple[str, SafeString]]:
    """The diff of each of the two files that differs."""
    old = recipes.from_document(before.document).yaml()
    pairs = [("recipe.yaml", old, text), (row.script_name, before.script, row.script)]
    return [(name, diffed(name, one, other)) for name, one, other in pairs if one != other]


def diffed(name: str, old: str, new: str) -> SafeString:
    patch = "\n".join([*difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=3)][2:])
    return table("v", name, patch)


@login_required
@require_GET
def file(request: Request, slug: str, number: int) -> HttpResponse:
    """The recipe's file, of the current version or of the one that `version` names."""
    row = asked(request, slug, number)
    text = recipes.from_document(row.document).yaml()
    return attached(text, "application/yaml", f"R-{row.number}-v{row.version}.yaml")


@login_required
@require_GET
def script(request: Request, slug: str, number: int) -> HttpResponse:
    row = asked(request, slug, number)
    return attached(row.script, "text/plain; charset=utf-8", row.script_name)


@login_required
@require_GET
def replay(request: Request, slug: str, number: int) -> HttpResponse:
    """A folder that reruns with only uv."""
    row = asked(request, slug, number)
    return attached(replaying.zipped(row), "application/zip", f"{replaying.name_of(row)}.zip")


def asked(request: Request, slug: str, number: int) -> Recipe:
    study = study_for(request.user, slug)
    wanted = request.GET.get("version", "")
    if not wanted:
        return recipe_in(study, request.user, number)
    known = whole(wanted)
    if known is None:
        raise Http404("There is no such version.")
    return version_in(study, request.user, number, known)


def attached(content: str | bytes, kind: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
