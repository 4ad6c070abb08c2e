"""REST addresses of the exports."""

from django.urls import path

from annotator.publication import api

app_name = "publication-api"
EXPORTS = "studies/<slug:slug>/exports"
urlpatterns = [
    path(f"{EXPORTS}/", api.Exports.as_view(), name="exports"),
    path(f"{EXPORTS}/side_by_side.mapping.yaml", api.Mapping.as_view(), name="mapping"),
    path(f"{EXPORTS}/<slug:table>-spreadsheet-safe.csv", api.SafeTable.as_view(), name="safe_table"),
    path(f"{EXPORTS}/<slug:table>.<slug:format_>", api.Table.as_view(), name="table"),
]
