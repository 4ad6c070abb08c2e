"""REST addresses of bugs."""

from django.urls import path

from annotator.sampling import api

urlpatterns = [
    path("studies/<slug:slug>/bugs/", api.Bugs.as_view()),
    path("studies/<slug:slug>/bugs/<int:bug>/", api.OneBug.as_view()),
]
