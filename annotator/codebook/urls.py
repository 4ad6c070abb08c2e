"""The codebook's pages, below a study."""

from django.urls import path

from annotator.codebook import apart_views, views

app_name = "codebook"
urlpatterns = [
    path("codebook/", views.tree, name="tree"),
    path("codebook/codebook.yaml", views.download, name="download"),
    path("codebook/codebook.json", views.download, {"format_": "json"}, name="download_json"),
    path("codebook/codebook.csv", views.download, {"format_": "csv"}, name="download_csv"),
    path("codebook/file/", views.upload, name="upload"),
    path("codebook/versions/<int:number>/", views.version, name="version"),
    path("codebook/facets/", views.new_facet, name="new_facet"),
    path("codebook/facets/<slug:facet>/", views.facet, name="facet"),
    path("codebook/facets/<slug:facet>/remove/", views.remove_facet, name="remove_facet"),
    path("codebook/facets/<slug:facet>/apart/", apart_views.notes, name="apart"),
    path("codebook/facets/<slug:facet>/categories/", views.new_category, name="new_category"),
    path("codebook/categories/<slug:uid>/", views.category, name="category"),
    path("codebook/categories/<slug:uid>/remove/", views.remove_category, name="remove_category"),
    path("codebook/categories/<slug:uid>/restore/", views.restore_category, name="restore_category"),
]
