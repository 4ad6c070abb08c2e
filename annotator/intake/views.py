"""Bringing a sheet in: upload, choose columns, see what would come, confirm, watch, undo. For leads."""

import csv
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.intake import actions, columns, undoing
from annotator.intake.forms import UploadForm, facets_of, mapping_text, people_of, sent_choices, with_aliases
from annotator.intake.guessing import guess, guess_header_rows
from annotator.intake.heads import preview as preview_sheet
from annotator.intake.heads import sheets
from annotator.intake.looking import looks
from annotator.intake.mapping import from_document, read_mapping, to_yaml
from annotator.intake.models import Import
from annotator.intake.sheets import Sheet
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput, Refused
from annotator.web.spreadsheets import safe_row
from annotator.web.wake import wake

PROBLEMS_PER_PAGE = 100
MOST_HEADER_ROWS = 5
OPEN = (Import.State.UPLOADED, Import.State.FAILED)
UNDERWAY = (Import.State.WAITING, Import.State.RUNNING)


def find(request: Request, slug: str, number: int) -> tuple[Study, Import]:
    study = study_for(request.user, slug, Role.LEAD)
    rows = Import.objects.select_related("study", "created_by")
    return study, get_object_or_404(rows, study=study, number=number)


# --- upload


@login_required
@require_http_methods(["GET", "POST"])
def upload(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    form = UploadForm(request.POST or None, request.FILES or None) if request.method == "POST" else UploadForm()
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            row = actions.upload(study=study, filename=file.name or "sheet", data=file.read(), by=request.user)
        except BadInput as problem:
            form.add_error("file", str(problem))
        else:
            return redirect("intake:columns", slug, row.number)
    past = Import.objects.filter(study=study).defer("file", "head", "created_ids").select_related("created_by")
    context = {"study": study, "form": form, "imports": past.order_by("-number")[:50]}
    return render(request, "intake/upload.html", context, status=400 if form.errors else 200)


@login_required
@require_GET
def show(request: Request, slug: str, number: int) -> HttpResponse:
    """The page that fits the import's state."""
    study, row = find(request, slug, number)
    if row.state == Import.State.UPLOADED:
        return redirect("intake:check" if row.report else "intake:columns", slug, number)
    context = {"study": study, "import": row, "page": problems_page(request, row), "is_underway": row.state in UNDERWAY}
    return render(request, "intake/result.html", context | told(row))


# --- columns


@login_required
@require_http_methods(["GET", "POST"])
def choose_columns(request: Request, slug: str, number: int) -> HttpResponse:
    study, row = find(request, slug, number)
    if row.state not in OPEN:
        return redirect("intake:show", slug, number)
    if request.method == "GET":
        sheet, choices = first_choices(request, study, row)
        return columns_page(request, study, row, sheet, choices)
    sheet = chosen_sheet(row, request.POST)
    choices = sent_choices(request.POST, row, sheet.width)
    try:
        mapping = from_document(columns.document_of(choices, sheet))
        actions.choose(row=row, mapping=mapping, by=request.user)
    except BadInput as problem:
        return columns_page(request, study, row, sheet, choices, problem=str(problem))
    return redirect("intake:check", slug, number)


def first_choices(request: Request, study: Study, row: Import) -> tuple[Sheet, columns.Choices]:
    """What was chosen before, else a guess; another sheet or number of header rows is guessed anew."""
    if row.mapping and not request.GET:
        mapping = from_document(row.mapping)
        sheet = preview_sheet(row.head, sheet=mapping.sheet, header_rows=mapping.header_rows)
        try:
            return sheet, columns.choices_of(mapping, sheet)
        except BadInput:
            pass  # a mapping file may name what the first rows do not hold
    sheet = chosen_sheet(row, request.GET)
    choices = guess(sheet, facets_of(study), people_of(study))
    choices.options["sheet"] = sheet.name
    return sheet, choices


def chosen_sheet(row: Import, sent: Any) -> Sheet:
    name = sent.get("sheet") or None
    head = next((tab for tab in row.head if tab["name"] == name), row.head[0])
    asked = sent.get("header_rows", "")
    rows = int(asked) if asked in map(str, range(MOST_HEADER_ROWS + 1)) else None
    return preview_sheet(row.head, sheet=name, header_rows=guess_header_rows(head["records"]) if rows is None else rows)


def columns_page(
    request: Request, study: Study, row: Import, sheet: Sheet, choices: columns.Choices, *, problem: str = ""
) -> HttpResponse:
    facets = facets_of(study)
    lines = [
        (place, sheet.labels[place], columns.samples(sheet, place), choices.columns.get(place, columns.Chosen()))
        for place in range(sheet.width)
    ]
    context = {
        "study": study,
        "import": row,
        "sheets": sheets(row.head),
        "sheet": sheet,
        "header_rows": len(sheet.header),
        "header_choices": range(MOST_HEADER_ROWS + 1),
        "example": next((label for label in sheet.labels if " / " in label), ""),
        "is_guessed": request.method == "GET" and "header_rows" not in request.GET and not row.mapping,
        "lines": lines,
        "groups": columns.meanings(facets),
        "with_person": [key for _, group in columns.meanings(facets) for key, _ in group if columns.needs_person(key)],
        "options": choices.options,
        "kinds": columns.KINDS.items(),
        "splits": [(facet, choices.splits.get(facet.key, "")) for facet in facets if facet.is_many],
        "marks": columns.MARKS.items(),
        "people": people_of(study),
        "has_facets": bool(facets),
        "problem": problem,
    }
    return render(
        request, "intake/columns.html", context | looked(study, sheet, choices), status=400 if problem else 200
    )


def looked(study: Study, sheet: Sheet, choices: columns.Choices) -> dict[str, Any]:
    """The first rows as they would be read, or why they cannot be."""
    try:
        mapping = from_document(columns.document_of(choices, sheet))
        return {"looks": looks(study, sheet, mapping), "look_problem": ""}
    except (BadInput, Refused) as problem:
        return {"looks": [], "look_problem": str(problem)}


@login_required
@require_POST
def preview(request: Request, slug: str, number: int) -> HttpResponse:
    study, row = find(request, slug, number)
    sheet = chosen_sheet(row, request.POST)
    choices = sent_choices(request.POST, row, sheet.width)
    return render(request, "intake/_preview.html", looked(study, sheet, choices))


@login_required
@require_POST
def take_mapping(request: Request, slug: str, number: int) -> HttpResponse:
    """Use a mapping file instead of choosing columns."""
    study, row = find(request, slug, number)
    try:
        mapping = read_mapping(mapping_text(request.FILES.get("mapping")))
        actions.choose(row=row, mapping=mapping, by=request.user)
    except BadInput as problem:
        sheet = chosen_sheet(row, {})
        choices = guess(sheet, facets_of(study), people_of(study))
        return columns_page(request, study, row, sheet, choices, problem=f"The mapping file was not taken. {problem}")
    return redirect("intake:check", slug, number)


@login_required
@require_GET
def mapping_file(request: Request, slug: str, number: int) -> HttpResponse:
    _, row = find(request, slug, number)
    text = to_yaml(from_document(row.mapping)) if row.mapping else ""
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-import-{number}-mapping.yaml"'
    return response


# --- the dry run


@login_required
@require_http_methods(["GET", "POST"])
def check(request: Request, slug: str, number: int) -> HttpResponse:
    """What would come, and every row's problem. Posting says what unknown labels mean."""
    study, row = find(request, slug, number)
    if row.state != Import.State.UPLOADED or not row.report:
        return redirect("intake:show", slug, number)
    if request.method == "POST":
        mapping = from_document(with_aliases(from_document(row.mapping), request.POST))
        actions.choose(row=row, mapping=mapping, by=request.user)
        return redirect("intake:check", slug, number)
    facets = {facet.key: facet for facet in facets_of(study)}
    unknown = [
        (facets[key], labels[:PROBLEMS_PER_PAGE], len(labels))
        for key, labels in row.report.get("unknown_labels", {}).items()
        if key in facets
    ]
    context = {"study": study, "import": row, "page": problems_page(request, row), "unknown": unknown}
    return render(request, "intake/check.html", context | told(row))


BRINGS = ("bugs_created", "items_created", "answers", "finals", "votes", "outcomes")


def told(row: Import) -> dict[str, Any]:
    """The report's numbers in words."""
    report = row.report or {}
    counts = [
        ("Rows", report.get("rows")),
        ("Rows left out", report.get("rows_skipped")),
        ("New pull requests, issues or other items", report.get("items_created")),
        ("New bugs", report.get("bugs_created")),
        ("Bugs that are there already", report.get("bugs_matched")),
        ("Answers of raters", report.get("answers")),
        ("Final labels", report.get("finals")),
        ("Screening votes", report.get("votes")),
        ("Decisions on candidates", report.get("outcomes")),
    ]
    codes = Counter((remark["code"], "errors") for remark in report.get("errors", []))
    codes.update((remark["code"], "warnings") for remark in report.get("warnings", []))
    return {
        "report": report,
        "counts": [(name, value) for name, value in counts if value],
        "brings": any(report.get(key) for key in BRINGS),
        "codes": [(code.replace("_", " "), kind, count) for (code, kind), count in sorted(codes.items())],
    }


def problems_of(row: Import) -> list[tuple[str, dict[str, Any]]]:
    report = row.report or {}
    errors = [("error", remark) for remark in report.get("errors", [])]
    return errors + [("warning", remark) for remark in report.get("warnings", [])]


def problems_page(request: Request, row: Import) -> dict[str, Any]:
    asked = request.GET.get("from", "0")
    start = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else 0
    every = problems_of(row)
    end = start + PROBLEMS_PER_PAGE
    return {
        "rows": every[start:end],
        "previous_url": f"?from={max(0, start - PROBLEMS_PER_PAGE)}#problems" if start else "",
        "next_url": f"?from={end}#problems" if end < len(every) else "",
        "first": start + 1,
        "last": min(end, len(every)),
        "all": len(every),
    }


class Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


@login_required
@require_GET
def problems(request: Request, slug: str, number: int) -> StreamingHttpResponse:
    """All problems as CSV that a spreadsheet opens without running what a sheet wrote."""
    _, row = find(request, slug, number)
    writer = csv.writer(Echo())

    def lines() -> Iterator[Any]:
        yield writer.writerow(["kind", "row", "column", "code", "text"])
        for kind, remark in problems_of(row):
            told = [kind, remark["row"], remark["column"], remark["code"], remark["text"]]
            yield writer.writerow(safe_row(told))

    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-import-{number}-problems.csv"'
    return response


# --- storing


@login_required
@require_POST
def start(request: Request, slug: str, number: int) -> HttpResponse:
    _, row = find(request, slug, number)
    actions.start(row=row, by=request.user)
    wake("annotator.intake.tasks.run", row.pk)
    return redirect("intake:show", slug, number)


@login_required
@require_GET
def progress(request: Request, slug: str, number: int) -> HttpResponse:
    """A fragment; once it is over, the whole page is fetched anew."""
    study, row = find(request, slug, number)
    response = render(request, "intake/_progress.html", {"study": study, "import": row})
    if row.state not in UNDERWAY:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def undo(request: Request, slug: str, number: int) -> HttpResponse:
    _, row = find(request, slug, number)
    undoing.undo(row=row, by=request.user)
    messages.success(request, f"Import {number} is undone: what it brought is gone, the file is kept.")
    return redirect("intake:show", slug, number)


@login_required
@require_POST
def discard(request: Request, slug: str, number: int) -> HttpResponse:
    _, row = find(request, slug, number)
    actions.discard(row=row, by=request.user)
    messages.success(request, "The upload is dropped.")
    return redirect("intake:upload", slug)
