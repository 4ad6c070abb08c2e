"""Addresses of what is handed out."""

from django.urls import path

from annotator.publication import findings_views, methods_views, views
from annotator.publication import releases_views as releases

app_name = "publication"
urlpatterns = [
    path("publication/", views.exports, name="exports"),
    path("publication/findings/", findings_views.findings, name="findings"),
    path("publication/findings/<int:number>/", findings_views.finding, name="finding"),
    path("publication/findings/<int:number>/withdraw/", findings_views.withdraw, name="withdraw_finding"),
    path("publication/methods/", methods_views.methods, name="methods"),
    path("publication/methods.md", methods_views.methods_file, name="methods_file"),
    path("publication/releases/", releases.releases, name="releases"),
    path("publication/releases/<int:number>/", releases.release, name="release"),
    path("publication/releases/<int:number>/changes/", releases.changes, name="changes"),
    path("publication/releases/<int:number>/public/", releases.public, name="public"),
    path("publication/releases/<int:number>/all.zip", releases.archive, name="archive"),
    path("publication/releases/<int:number>/files/<path:file>", releases.file, name="release_file"),
    path("publication/side_by_side.mapping.yaml", views.mapping, name="mapping"),
    path("publication/<slug:table>-spreadsheet-safe.csv", views.safe_table, name="safe_table"),
    path("publication/<slug:table>.<slug:format_>", views.table, name="table"),
]
