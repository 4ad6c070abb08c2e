"""REST addresses of imports."""

from django.urls import path

from annotator.intake import api

IMPORTS = "studies/<slug:slug>/imports"
ONE = f"{IMPORTS}/<int:import_number>"
urlpatterns = [
    path(f"{IMPORTS}/", api.Imports.as_view()),
    path(f"{ONE}/", api.OneImport.as_view()),
    path(f"{ONE}/mapping/", api.Mapping.as_view()),
    path(f"{ONE}/start/", api.Start.as_view()),
    path(f"{ONE}/undo/", api.Undo.as_view()),
]
