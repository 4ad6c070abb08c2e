"""Distributions of the labels: by facet, across another facet or the repositories."""

import csv
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotator.adjudication.models import Dispute
from annotator.analysis import figures
from annotator.analysis.labels import FINAL, UNANIMOUS, raters_with_labels
from annotator.analysis.tables import REPOSITORY, Tables, tables
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web.spreadsheets import safe_row


def asked(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "")


@login_required
@require_GET
def distributions(request: HttpRequest, slug: str) -> HttpResponse:
    """Every facet's distribution, or one facet across another."""
    study = study_for(request.user, slug)
    choice, by, across = asked(request, "labels") or FINAL, asked(request, "by"), asked(request, "across")
    read = Tables(study, choice)
    used = read.used()
    context: dict[str, Any] = {
        "study": study,
        "choice": choice,
        "choices": choices(study),
        "facets": used,
        "by": by,
        "across": across,
        "disputes": Dispute.objects.filter(study=study, is_open=True).count(),
        "distributions": figures.distributions_of(read),
    }
    if by and across:
        context["cross"] = cross(read, by, across)
    return render(request, "analysis/distributions.html", context)


def choices(study: Study) -> list[tuple[str, str]]:
    raters = [(name, f"Blind labels of {name}") for name in raters_with_labels(study)]
    return [(FINAL, "Final labels"), (UNANIMOUS, "Unanimous labels"), *raters]


def cross(read: Tables, by: str, across: str) -> figures.Cross:
    if across == REPOSITORY:
        return figures.across_repositories(read, read.named(by))
    return figures.across(read, read.named(by), read.named(across))


@login_required
@require_GET
def table(request: HttpRequest, slug: str) -> HttpResponse:
    """One table as CSV, in long form: a row for each category, or for each pair that occurs."""
    study = study_for(request.user, slug)
    choice, by, across = asked(request, "labels") or FINAL, asked(request, "by"), asked(request, "across")
    read = tables(study, choice=choice, by=by, across=across)
    name = "-".join(filter(None, (study.slug, choice, by, across)))
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{"".join(c if c.isalnum() or c in "-_" else "-" for c in name)}.csv"'
    )
    csv.writer(response).writerows(map(safe_row, lines(read, across=bool(across))))
    return response


def lines(read: dict[str, Any], *, across: bool) -> Iterator[list[Any]]:
    if not across:
        yield ["facet", "category", "bugs", "with_narrower"]
        for facet, counts in read["facets"].items():
            totals = read["rollup"][facet]
            for category in {**counts, **totals}:
                yield [facet, category, counts.get(category, 0), totals.get(category, "")]
        return
    for title, rows in read["crosstabs"].items():
        yield [*title.split(" × "), "bugs"]
        for a, row in rows.items():
            yield from ([a, b, n] for b, n in row.items())
