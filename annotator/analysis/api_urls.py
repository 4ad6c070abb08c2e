"""REST addresses of final labels and their counts."""

from django.urls import path

from annotator.analysis import api

urlpatterns = [
    path("studies/<slug:slug>/finals/", api.Finals.as_view()),
    path("studies/<slug:slug>/tables/", api.Tables.as_view()),
]
