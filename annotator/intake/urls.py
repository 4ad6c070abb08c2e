"""Addresses of imports, below a study."""

from django.urls import path

from annotator.intake import views

app_name = "intake"
urlpatterns = [
    path("import/", views.upload, name="upload"),
    path("import/<int:number>/", views.show, name="show"),
    path("import/<int:number>/columns/", views.choose_columns, name="columns"),
    path("import/<int:number>/preview/", views.preview, name="preview"),
    path("import/<int:number>/mapping/", views.take_mapping, name="take_mapping"),
    path("import/<int:number>/mapping.yaml", views.mapping_file, name="mapping_file"),
    path("import/<int:number>/check/", views.check, name="check"),
    path("import/<int:number>/problems.csv", views.problems, name="problems"),
    path("import/<int:number>/start/", views.start, name="start"),
    path("import/<int:number>/progress/", views.progress, name="progress"),
    path("import/<int:number>/undo/", views.undo, name="undo"),
    path("import/<int:number>/discard/", views.discard, name="discard"),
]
