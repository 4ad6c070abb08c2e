"""Releases: all of them, one, what changed, its files."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.models import User
from annotator.adjudication.names import nameless_bugs
from annotator.publication import actions, compared, release_page
from annotator.publication.forms import ReleaseForm
from annotator.publication.frozen import document
from annotator.publication.models import Release
from annotator.publication.options import LICENCES, usual
from annotator.publication.reading import is_public, release_for
from annotator.publication.sent import archive_response, file_response
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.wake import wake

TASK = "annotator.publication.tasks.release"
LISTED = 1_000  # labels on a page


@login_required
@require_http_methods(["GET", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """All that were published, the one being written, and for a lead the next."""
    study = study_for(request.user, slug)
    if request.method == "POST":
        return ask(request, study_for(request.user, slug, Role.LEAD))
    return listed(request, study, ReleaseForm(study, usual(study)))


def listed(request: HttpRequest, study: Study, form: ReleaseForm, *, status: int = 200) -> HttpResponse:
    context = request_of(study) | {
        "study": study,
        "form": form,
        "is_lead": Role.LEAD in study.my_roles,
        "releases": Release.objects.published().filter(study=study).order_by("-number"),
    }
    page = "publication/_underway.html" if getattr(request, "htmx", False) else "publication/releases.html"
    return render(request, page, context, status=status)


def request_of(study: Study) -> dict[str, object]:
    """The latest request, unless it was published: then the release itself stands there."""
    row = Release.objects.filter(study=study).order_by("-pk").first()
    waits = row is not None and row.state in actions.BUSY
    return {"asked": row if row and row.state != Release.State.PUBLISHED else None, "is_underway": waits}


def ask(request: HttpRequest, study: Study) -> HttpResponse:
    form = ReleaseForm(study, usual(study), request.POST)
    if not form.is_valid():
        return listed(request, study, form, status=422)
    row = actions.ask(
        study=study, options=form.options(), notes=form.cleaned_data["notes"], by=cast(User, request.user)
    )
    wake(TASK, row.pk)
    return redirect("publication:releases", slug=study.slug)


def readable(request: HttpRequest, slug: str, number: int) -> Release | HttpResponse:
    """The release, or the way to the sign-in for who is nobody yet."""
    if not request.user.is_authenticated and not is_public(slug, number):
        return redirect_to_login(request.get_full_path())
    return release_for(request.user, slug, number)


@require_GET
def release(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    found = readable(request, slug, number)
    if isinstance(found, HttpResponse):
        return found
    study = found.study
    withholds = kept_back(request, study)
    changes = release_page.changes_of(found)
    checks, passed = release_page.checks_of(found)
    about = document(found, "about.json")
    asked = request.GET.get("cite", "")
    way = asked if asked in dict(release_page.WAYS) else "bibtex"
    context = around(found) | {
        "about": about,
        "licence": LICENCES[found.options["licence"]],
        "rows": document(found, "release.json")["rows"],
        "version": document(found, "codebook.json")["version"],
        "files": release_page.files_shown(found, withholds=withholds),
        "figures": release_page.figures_of(found),
        "withholds": withholds,
        "size": sum(file["bytes"] for file in found.manifest),
        "ways": release_page.WAYS,
        "way": way,
        "citation": getattr(release_page.cited(found), way),
        "changes": changes,
        "change_lines": release_page.change_lines(changes, release_page.facet_names(found)) if changes else [],
        "checks": checks,
        "passed": passed,
        "is_lead": Role.LEAD in study.my_roles,
        "numbers": Release.objects.published().filter(study=study).order_by("-number") if study.my_roles else [],
        "address": address_of(request, slug, number, "finals.parquet"),
        "csv_address": address_of(request, slug, number, "finals.csv"),
    }
    return render(request, "publication/release.html", context)


def address_of(request: HttpRequest, slug: str, number: int, file: str) -> str:
    return request.build_absolute_uri(reverse("publication-api:release_file", args=[slug, number, file]))


@require_GET
def changes(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """What is another than in the release before, or than in any other with `since`."""
    found = readable(request, slug, number)
    if isinstance(found, HttpResponse):
        return found
    if since := request.GET.get("since", ""):
        return since_other(request, found, since)
    return render(
        request, "publication/changes.html", around(found) | labels_shown(found, release_page.changes_of(found))
    )


def since_other(request: HttpRequest, release: Release, text: str) -> HttpResponse:
    """All that is another, once a worker has compared them. The later one of the two has the page."""
    slug, number = release.study.slug, compared.other_number(release, text)
    other = readable(request, slug, number)
    if isinstance(other, HttpResponse):
        return other
    if number > (release.number or 0):
        return redirect(f"{reverse('publication:changes', args=[slug, number])}?since={release.number}")
    found = compared.compared(other, release)
    context = around(release) | {"since": other, "is_underway": found is None}
    if found is None:
        page = render(request, "publication/changes.html", context)
        page.headers["Refresh"] = str(compared.AGAIN_AFTER)
        return page
    names = release_page.facet_names(other) | release_page.facet_names(release)
    withholds = kept_back(request, release.study)
    context |= labels_shown(release, found) | {"whole": release_page.shown(found, names, withholds=withholds)}
    return render(request, "publication/changes.html", context)


def around(release: Release) -> dict[str, object]:
    """The release, and which others a member may compare it with."""
    study = release.study
    others = Release.objects.published().filter(study=study).exclude(pk=release.pk).order_by("-number")
    return {"study": study, "release": release, "others": others if study.my_roles else []}


def labels_shown(release: Release, told: dict[str, Any] | None) -> dict[str, object]:
    if told is None:
        return {}
    names = release_page.facet_names(release)
    labels = [label | {"facet_name": names.get(label["facet"], label["facet"])} for label in told["labels"][:LISTED]]
    return {"changes": told | {"labels": labels}, "total": sum(told["counts"].values())}


def kept_back(request: HttpRequest, study: Study) -> bool:
    """Files that tell whose answer is whose, from who still decides without the names."""
    return bool(study.my_roles and nameless_bugs(study, cast(User, request.user), study.my_roles))


@require_GET
def file(request: HttpRequest, slug: str, number: int, file: str) -> HttpResponseBase:
    found = readable(request, slug, number)
    return found if isinstance(found, HttpResponse) else file_response(request, found, file)


@require_GET
def archive(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    found = readable(request, slug, number)
    return found if isinstance(found, HttpResponse) else archive_response(request, found)


@login_required
@require_POST
def public(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    study_for(request.user, slug, Role.LEAD)
    found = release_for(request.user, slug, number)
    wanted = request.POST.get("public") == "1"
    actions.set_public(release=found, is_public=wanted, by=cast(User, request.user))
    said = "Anyone who has its address can read it now." if wanted else "Only members of the study read it from now on."
    messages.success(request, said)
    return redirect("publication:release", slug=slug, number=number)
