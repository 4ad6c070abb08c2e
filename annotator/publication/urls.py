"""Addresses of what is handed out."""

from django.urls import path

from annotator.publication import views

app_name = "publication"
urlpatterns = [
    path("publication/", views.exports, name="exports"),
    path("publication/side_by_side.mapping.yaml", views.mapping, name="mapping"),
    path("publication/<slug:table>-spreadsheet-safe.csv", views.safe_table, name="safe_table"),
    path("publication/<slug:table>.<slug:format_>", views.table, name="table"),
]
