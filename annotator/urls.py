"""Where every address leads."""

from importlib.util import find_spec

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = []
for package in ["web", "accounts", "overview", "studies"]:
    if find_spec(f"annotator.{package}.urls"):
        urlpatterns.append(path("", include(f"annotator.{package}.urls")))
for package in ["web", "accounts", "overview", "studies", "sampling"]:
    if find_spec(f"annotator.{package}.api_urls"):
        urlpatterns.append(path("api/v1/", include(f"annotator.{package}.api_urls")))
urlpatterns.append(path("accounts/", include("allauth.urls")))  # after ours, which answer what would need mail
for package in [
    "codebook",
    "history",
    "collection",
    "screening",
    "labeling",
    "agreement",
    "adjudication",
    "analysis",
    "publication",
    "intake",
]:
    if find_spec(f"annotator.{package}.urls"):
        urlpatterns.append(path("<slug:slug>/", include(f"annotator.{package}.urls")))
    if find_spec(f"annotator.{package}.api_urls"):
        urlpatterns.append(path("api/v1/", include(f"annotator.{package}.api_urls")))
