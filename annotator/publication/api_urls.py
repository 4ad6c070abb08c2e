"""REST addresses of the exports and releases."""

from django.urls import path

from annotator.publication import api, findings_api, methods_api
from annotator.publication import releases_api as releases

app_name = "publication-api"
EXPORTS = "studies/<slug:slug>/exports"
RELEASES = "studies/<slug:slug>/releases"
urlpatterns = [
    path(f"{EXPORTS}/", api.Exports.as_view(), name="exports"),
    path(f"{EXPORTS}/side_by_side.mapping.yaml", api.Mapping.as_view(), name="mapping"),
    path(f"{EXPORTS}/<slug:table>-spreadsheet-safe.csv", api.SafeTable.as_view(), name="safe_table"),
    path(f"{EXPORTS}/<slug:table>.<slug:format_>", api.Table.as_view(), name="table"),
    path("studies/<slug:slug>/findings/", findings_api.Findings.as_view(), name="findings"),
    path("studies/<slug:slug>/findings/<int:number>/", findings_api.OneFinding.as_view(), name="finding"),
    path("studies/<slug:slug>/methods/", methods_api.Methods.as_view(), name="methods"),
    path(f"{RELEASES}/", releases.Releases.as_view(), name="releases"),
    path(f"{RELEASES}/request/", releases.Asked.as_view(), name="request"),
    path(f"{RELEASES}/<int:number>/", releases.OneRelease.as_view(), name="release"),
    path(f"{RELEASES}/<int:number>/changes/", releases.Changes.as_view(), name="changes"),
    path(f"{RELEASES}/<int:number>/public/", releases.MakePublic.as_view(), name="public"),
    path(f"{RELEASES}/<int:number>/all.zip", releases.Archive.as_view(), name="archive"),
    path(f"{RELEASES}/<int:number>/files/<path:file>", releases.OneFile.as_view(), name="release_file"),
]
