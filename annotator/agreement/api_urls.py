"""REST addresses of agreement."""

from django.urls import path

from annotator.agreement import api

STUDY = "studies/<slug:slug>"
urlpatterns = [
    path(f"{STUDY}/agreement/", api.Agreement.as_view()),
    path(f"{STUDY}/agreement/pooled/", api.Pooled.as_view()),
    path(f"{STUDY}/rounds/<int:number>/continue/", api.Continue.as_view()),
]
