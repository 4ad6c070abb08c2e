"""What every page's frame shows: the study's stages, and where the viewer may go."""

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

PLACES = [
    ("Overview", "overview:home", "overview"),
    ("Collection", "collection:bugs", "collection"),
    ("Screening", "screening:candidates", "screening"),
    ("Labeling", "labeling:rounds", "labeling"),
    ("Agreement", "agreement:trend", "agreement"),
    ("Adjudication", "adjudication:queue", "adjudication"),
    ("Analysis", "analysis:distributions", "analysis"),
    ("Publication", "publication:exports", "publication"),
]
BESIDE = [
    ("Codebook", "codebook:tree", "codebook"),
    ("Members", "studies:members", "studies"),
    ("History", "history:events", "history"),
]


def places(slug: str, here: str, wanted: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Links to the stages that have a page, the current one marked."""
    links = []
    for label, view, app in wanted:
        try:
            url = reverse(view, args=[slug])
        except NoReverseMatch:
            continue
        links.append({"label": label, "url": url, "is_current": app == here})
    return links


def frame(request: HttpRequest) -> dict[str, Any]:
    """`stages` and `beside` for pages within a study; the view puts `study` itself into its context."""
    match = request.resolver_match
    if match is None or "slug" not in match.kwargs:
        return {}
    here = (match.namespace or "").split(":")[0]
    slug = match.kwargs["slug"]
    return {"stages": places(slug, here, PLACES), "beside": places(slug, here, BESIDE)}
