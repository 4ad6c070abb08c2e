"""Addresses of the analysis."""

from django.urls import path

from annotator.analysis import views

app_name = "analysis"
urlpatterns = [
    path("analysis/", views.distributions, name="distributions"),
    path("analysis/table.csv", views.table, name="table"),
]
