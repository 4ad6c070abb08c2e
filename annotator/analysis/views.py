"""The analysis: every facet's distribution, each table on a page of its own, and tables as files."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotator.adjudication.models import Dispute
from annotator.analysis import asked as kinds
from annotator.analysis.asked import CHOICES, KINDS, REPOSITORY, Asked, read_asked
from annotator.analysis.formats import FORMATS
from annotator.analysis.kept import drawn_among
from annotator.analysis.labels import FINAL, UNANIMOUS, raters_with_labels
from annotator.analysis.layout import Section, section
from annotator.analysis.numbers import numbers
from annotator.analysis.permitted import allowed, permitted, refuse_rater_labels, told_to
from annotator.analysis.queries import Question
from annotator.analysis.relating import compared_in
from annotator.analysis.tables import Tables
from annotator.analysis.tables import tables as all_tables
from annotator.analysis.writing import as_lines, written
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Study

LIVE = 20_000  # bugs
OF_TABLES = ("level", "show", "period", "moment", "order")
OPTIONS = {kind: [name for name in OF_TABLES if name in uses] for kind, uses in kinds.USES.items()}


def sent(request: HttpRequest) -> dict[str, str]:
    return {name: str(value) for name, value in request.GET.items() if value}


@login_required
@require_GET
def distributions(request: HttpRequest, slug: str) -> HttpResponse:
    """Every facet's distribution, or one facet across another."""
    study = study_for(request.user, slug)
    asked = sent(request)
    choice = asked.get("labels", FINAL)
    refuse_rater_labels(study, request.user, choice)
    read = Tables(study, choice)
    used = read.used()
    if asked.get("by") and asked.get("across"):
        return table_page(request, slug, kinds.CROSS)
    wanted = [read.named(asked["by"])] if asked.get("by") else used
    more = {name: asked[name] for name in OPTIONS[kinds.DISTRIBUTION] if name in asked} | {"labels": choice}
    whole = bool(asked.get("by")) and is_small(study)
    sections = [
        shown(request, study, read_asked(kinds.DISTRIBUTION, more | {"by": q.key}), whole=whole) for q in wanted
    ]
    context = around(request, study, kinds.DISTRIBUTION, choice=choice, chosen=asked) | {
        "facets": used,
        "disputes": Dispute.objects.filter(study=study, is_open=True).count(),
        "sections": sections,
        "drawn": drawn_among(study, [one.asked for one in sections]),
    }
    return render(request, "analysis/distributions.html", context)


def shown(request: HttpRequest, study: Study, asked: Asked, *, whole: bool = False) -> Section:
    return section(study, asked, told_to(study, request.user, numbers(study, asked, whole=whole)))


def around(request: HttpRequest, study: Study, kind: str, *, choice: str, chosen: dict[str, str]) -> dict[str, Any]:
    """What every page of the analysis needs: its tabs, and what may be chosen."""
    return {
        "study": study,
        "kind": kind,
        "kinds": KINDS,
        "choice": choice,
        "choices": choices(study, request.user),
        "options": {name: CHOICES[name] for name in OPTIONS[kind]},
        "chosen": chosen,
        "kept": kept_by(chosen),
        "by": chosen.get("by", ""),
        "across": chosen.get("across", ""),
        "formats": FORMATS,
    }


def kept_by(chosen: dict[str, str]) -> str:
    """What stays chosen from tab to tab: whose labels, and how fine."""
    said = urlencode({name: chosen[name] for name in ("labels", "level") if chosen.get(name)})
    return f"?{said}" if said else ""


def choices(study: Study, viewer: Any) -> list[tuple[str, str]]:
    names = permitted(study, viewer, raters_with_labels(study))
    raters = [(name, f"Blind labels of {name}") for name in names]
    return [(FINAL, "Final labels"), (UNANIMOUS, "Unanimous labels"), *raters]


@login_required
@require_GET
def table_page(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """One table with its picture, its tests, and what other labels would change."""
    study = study_for(request.user, slug)
    if kind not in KINDS:
        raise Http404("There is no such table.")
    if kind == kinds.DISTRIBUTION:
        return distributions(request, slug)
    given = sent(request)
    used = Tables(study).used()
    given = with_defaults(kind, given, [question.key for question in used])
    context = around(request, study, kind, choice=given.get("labels", FINAL), chosen=given)
    context |= {"facets": choosable(study, kind, used), "others": others(request, study)}
    if is_asked(kind, given):
        asked = allowed(study, request.user, read_asked(kind, given))
        one = shown(request, study, asked, whole=is_small(study) or "others" in given)
        context |= {"section": one, "drawn": drawn_among(study, [asked]), "is_small": is_small(study)}
    return render(request, "analysis/table.html", context)


def choosable(study: Study, kind: str, used: list[Question]) -> Sequence[Any]:
    """What the page offers, each with its key and name: facets with labels, or what raters were compared in."""
    if kind != kinds.AGREEMENT:
        return used
    return [{"key": key, "name": title} for key, title in compared_in(study).items()]


def is_small(study: Study) -> bool:
    """Whether a page says unasked what other labels would change."""
    return Bug.objects.filter(study=study)[LIVE : LIVE + 1].count() == 0


def with_defaults(kind: str, given: dict[str, str], facets: list[str]) -> dict[str, str]:
    """Whoever names no facet sees the first, across the repositories."""
    if not facets or kind in (kinds.ASSOCIATION, kinds.AGREEMENT):
        return given
    found = {"by": facets[0]} | given
    return ({"across": REPOSITORY} | found) if kind == kinds.CROSS else found


def is_asked(kind: str, given: dict[str, str]) -> bool:
    if kind == kinds.COMPARISON and not given.get("other"):
        return False
    return all(given.get(name) for name in kinds.NEEDED[kind])


def others(request: HttpRequest, study: Study) -> list[Study]:
    """Studies to compare with: the viewer's own."""
    return list(Study.objects.of(request.user).exclude(pk=study.pk).order_by("title"))


@login_required
@require_GET
def table_file(request: HttpRequest, slug: str, kind: str, format_: str) -> HttpResponse:
    """The same table as LaTeX, Markdown, CSV or JSON."""
    study = study_for(request.user, slug)
    if kind not in KINDS or format_ not in FORMATS:
        raise Http404("There is no such table.")
    given = with_defaults(kind, sent(request), [question.key for question in Tables(study).used()])
    asked = allowed(study, request.user, read_asked(kind, given))
    return written(study, asked, numbers(study, asked), format_)


@login_required
@require_GET
def table(request: HttpRequest, slug: str) -> HttpResponse:
    """Counts as CSV, in long form: a row for each category, or for each pair that occurs."""
    study = study_for(request.user, slug)
    asked = sent(request)
    choice, by, across = asked.get("labels", FINAL), asked.get("by", ""), asked.get("across", "")
    refuse_rater_labels(study, request.user, choice)
    read = all_tables(study, choice=choice, by=by, across=across)
    return as_lines(read, name="-".join(filter(None, (study.slug, choice, by, across))), across=bool(across))
