"""Addresses of what crosses stages in the REST interface."""

from django.urls import path

from annotator.overview import starting_api

app_name = "overview-api"
urlpatterns = [
    path("studies/", starting_api.studies, name="studies"),
]
