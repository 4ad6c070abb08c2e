"""What a harvest's counts are made of, and the items of a study."""

import csv
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.collection import lists
from annotator.collection.models import Finding, Harvest, Item, Repository, Window
from annotator.collection.saying import reason_in_words
from annotator.collection.source import file_of, last_edit, source_of
from annotator.collection.thread import thread_of
from annotator.studies.access import study_for
from annotator.studies.models import Study


def find(request: Request, slug: str, number: int) -> tuple[Study, Harvest]:
    study = study_for(request.user, slug)
    return study, get_object_or_404(Harvest, study=study, number=number)


# --- what a count is made of


@login_required
@require_GET
def findings(request: Request, slug: str, number: int) -> HttpResponse:
    study, harvest = find(request, slug, number)
    show = request.GET.get("show", "found")
    filters = lists.FindingFilters(
        show=show if show in lists.FINDINGS else "found",
        reason=request.GET.get("reason", "")[:20],
        repository=request.GET.get("repository", "")[:300],
    )
    page = lists.page_of_findings(lists.findings_of(harvest, filters), request.GET)
    context = {
        "study": study,
        "harvest": harvest,
        "filters": filters,
        "shows": [(name, label) for name, (label, _) in lists.FINDINGS.items()],
        "rows": [(row, reason_in_words(row.reason) if row.reason else "") for row in page.rows],
        "repositories": labels_of(harvest),
    }
    return render(request, "collection/findings.html", context | turned(request, page))


def labels_of(harvest: Harvest) -> list[str]:
    labels = Window.objects.filter(harvest=harvest).order_by("repository__label")
    return list(labels.values_list("repository__label", flat=True).distinct())


def turned(request: Request, page: lists.Page[Any]) -> dict[str, str]:
    """The same list at another place."""
    found = {"next_url": "", "previous_url": ""}
    for name, place in (("after", page.after), ("before", page.before)):
        if place:
            sent = request.GET.copy()
            for key in ("after", "before"):
                sent.pop(key, None)
            sent[name] = place
            found["next_url" if name == "after" else "previous_url"] = f"?{sent.urlencode()}"
    return found


@login_required
@require_GET
def windows(request: Request, slug: str, number: int) -> HttpResponse:
    """The slices of time in which GitHub was asked."""
    study, harvest = find(request, slug, number)
    show = request.GET.get("show", "all")
    show = show if show in lists.WINDOWS else "all"
    page = lists.page_of_windows(harvest, show, request.GET)
    context = {
        "study": study,
        "harvest": harvest,
        "show": show,
        "shows": [(name, label) for name, (label, _) in lists.WINDOWS.items()],
        "rows": page.rows,
    }
    return render(request, "collection/windows.html", context | turned(request, page))


class Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


@login_required
@require_GET
def faults(request: Request, slug: str, number: int) -> StreamingHttpResponse:
    """What is missing and what went wrong, as CSV."""
    _, harvest = find(request, slug, number)
    writer = csv.writer(Echo())

    def rows() -> Iterator[Any]:
        yield writer.writerow(["kind", "repository", "number", "what", "times", "last_at"])
        gone = Finding.objects.filter(harvest=harvest).filter(lists.FINDINGS["unavailable"][1])
        for row in gone.select_related("repository").order_by("repository__label", "number").iterator():
            yield writer.writerow(["unavailable", row.repository.label, row.number, reason_in_words(row.reason), 1, ""])
        for fault in harvest.faults.order_by("first_at", "pk"):
            yield writer.writerow(
                [fault.kind, "", "", f"{fault.place} {fault.said}".strip(), fault.count, fault.last_at.isoformat()]
            )

    response = StreamingHttpResponse(rows(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-harvest-{number}-faults.csv"'
    return response


# --- items


@login_required
@require_GET
def items(request: Request, slug: str) -> HttpResponse:
    """Everything that was found, whether or not it is a bug of the study."""
    study = study_for(request.user, slug)
    sent = request.GET
    filters = lists.ItemFilters(
        words=sent.get("q", "").strip()[:200],
        repository=sent.get("repository", ""),
        kind=sent.get("kind", ""),
        state=sent.get("state", ""),
        harvest=sent.get("harvest", ""),
    )
    page = lists.page_of_items(study, filters, sent)
    context = {
        "study": study,
        "filters": filters,
        "is_narrowed": filters != lists.ItemFilters(),
        "rows": page.rows,
        "repositories": Repository.objects.filter(study=study).order_by("label").values_list("label", flat=True),
        "kinds": Item.Kind.choices,
        "states": ["open", "closed", "merged"],
        "harvests": Harvest.objects.filter(study=study).order_by("number").values_list("number", flat=True),
    }
    return render(request, "collection/items.html", context | turned(request, page))


@login_required
@require_GET
def item(request: Request, slug: str, identity: str) -> HttpResponse:
    """Text, discussion, commits and diff of one item."""
    study, found = find_item(request, slug, identity)
    source, thread = thread_of(study, found, source_of(found, edited_at=getattr(found, "edited_at", None)))
    context = {
        "study": study,
        "item": found,
        "source": source,
        "thread": thread,
        "bug_url": reverse("collection:item", args=[study.slug, found.identity]),
        "findings": Finding.objects.filter(item=found).select_related("harvest").order_by("harvest__number"),
    }
    return render(request, "collection/item.html", context)


def find_item(request: Request, slug: str, identity: str) -> tuple[Study, Item]:
    study = study_for(request.user, slug)
    rows = Item.objects.select_related("repository", "text").annotate(edited_at=last_edit("pk"))
    return study, get_object_or_404(rows, study=study, identity=identity)


@login_required
@require_GET
def file(request: Request, slug: str, identity: str, position: int) -> HttpResponse:
    """The diff of one file that was too long to come with the page."""
    whole = f"{identity}/files/{position}"
    if Item.objects.filter(study=study_for(request.user, slug), identity=whole).exists():
        return item(request, slug, whole)  # a sheet's address that ends so
    study, found = find_item(request, slug, identity)
    shown = file_of(found, position)
    if shown is None:
        raise Http404("The copy holds no diff of this file.")
    changed, table = shown
    context = {"study": study, "item": found, "file": changed, "table": table}
    return HttpResponse(table) if request.htmx else render(request, "collection/item_file.html", context)
