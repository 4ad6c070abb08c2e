"""What reproduction says of a bug: a page, and the same as a fragment beside the bug's labels."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.reproduction import outputs, queries
from annotator.reproduction.finding import bug_in, may_write
from annotator.reproduction.listing import lines_of
from annotator.reproduction.matrix import Matrix, matrix_of
from annotator.reproduction.models import Recipe
from annotator.sampling.models import Bug
from annotator.studies.access import study_for

SHOWN = 12  # lines of output


@dataclass(frozen=True, kw_only=True)
class Evidence:
    recipe: Recipe
    chip: tuple[str, str]
    matrix: Matrix | None
    samples: tuple[tuple[str, str], ...]  # an environment, and how its output ends


@login_required
@require_GET
def show(request: Request, slug: str, bug: int) -> HttpResponse:
    """Not yet, where an open round keeps it from the viewer: in the same words whether or not there is anything."""
    study = study_for(request.user, slug)
    found = bug_in(study, bug)
    is_shown = queries.is_shown(study, found, request.user, study.my_roles)
    context = {
        "study": study,
        "bug": found,
        "not_yet": "" if is_shown else queries.NOT_YET,
        "evidence": evidence_of(found) if is_shown else (),
        "may_write": is_shown and may_write(study),
    }
    return render(request, "reproduction/_evidence.html" if request.htmx else "reproduction/bug.html", context)


def evidence_of(bug: Bug) -> list[Evidence]:
    """Each recipe of the bug with its latest series, in order."""
    rows = Recipe.objects.current().filter(bug=bug).select_related("bug__item", "study").order_by("number")
    return [
        Evidence(
            recipe=line.recipe,
            chip=line.chip,
            matrix=matrix_of(line.told) if line.told else None,
            samples=samples_of(matrix_of(line.told)) if line.told and line.told.is_over else (),
        )
        for line in lines_of(list(rows))
    ]


def samples_of(matrix: Matrix) -> tuple[tuple[str, str], ...]:
    """Two runs that tell most: a buggy one and a fixed one, or one of the majority and one that deviates."""
    pair = outputs.compared(matrix)
    if pair is None:
        return ()
    return tuple(
        (run.environment, "\n".join((run.stdout or run.stderr).strip().splitlines()[-SHOWN:]))
        for run in (pair.left, pair.right)
    )
