"""Addresses of the codebook in the REST interface."""

from django.urls import path

from annotator.codebook import apart_api, api

app_name = "codebook-api"
BOOK = "studies/<slug:slug>/codebook/"
urlpatterns = [
    path("codebooks/", api.list_presets, name="presets"),
    path(BOOK, api.whole, name="codebook"),
    path(f"{BOOK}file/", api.file, name="file"),
    path(f"{BOOK}versions/", api.versions, name="versions"),
    path(f"{BOOK}versions/<int:number>/", api.version, name="version"),
    path(f"{BOOK}facets/", api.facets, name="facets"),
    path(f"{BOOK}facets/<slug:facet>/", api.facet, name="facet"),
    path(f"{BOOK}facets/<slug:facet>/apart/", apart_api.Notes.as_view(), name="apart"),
    path(f"{BOOK}facets/<slug:facet>/categories/", api.categories, name="categories"),
    path(f"{BOOK}categories/<slug:uid>/", api.category, name="category"),
    path(f"{BOOK}categories/<slug:uid>/restore/", api.restore, name="restore"),
]
