"""Addresses of the analysis."""

from django.urls import path

from annotator.analysis import audit_views, figure_views, views

app_name = "analysis"
urlpatterns = [
    path("analysis/", views.distributions, name="distributions"),
    path("analysis/table.csv", views.table, name="table"),
    path("analysis/tables/<slug:kind>/", views.table_page, name="table_page"),
    path("analysis/tables/<slug:kind>/table.<slug:format_>", views.table_file, name="table_file"),
    path("analysis/audits/", audit_views.audits, name="audits"),
    path("analysis/audits/<int:number>/", audit_views.audit, name="audit"),
    path("analysis/audits/<int:number>/<int:rank>/", audit_views.rule, name="rule"),
    path("analysis/figures/", figure_views.figures, name="figures"),
    path("analysis/figures/<slug:key>/", figure_views.figure, name="figure"),
    path("analysis/figures/<slug:key>/figure.<slug:format_>", figure_views.figure_file, name="figure_file"),
]
