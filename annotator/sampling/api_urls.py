"""REST addresses of samples and bugs."""

from django.urls import path

from annotator.sampling import api, samples_api

STUDY = "studies/<slug:slug>"
SAMPLE = f"{STUDY}/samples/<int:number>"
urlpatterns = [
    path(f"{STUDY}/bugs/", api.Bugs.as_view()),
    path(f"{STUDY}/bugs/<int:bug>/", api.OneBug.as_view()),
    path(f"{STUDY}/bugs/<int:bug>/leave/", samples_api.Leave.as_view()),
    path(f"{STUDY}/bugs/<int:bug>/come-back/", samples_api.ComeBack.as_view()),
    path(f"{STUDY}/samples/", samples_api.Samples.as_view()),
    path(f"{STUDY}/samples/preview/", samples_api.Preview.as_view()),
    path(f"{SAMPLE}/", samples_api.OneSample.as_view()),
    path(f"{SAMPLE}/again/", samples_api.Again.as_view()),
    path(f"{SAMPLE}/places/", samples_api.Places.as_view()),
    path(f"{SAMPLE}/take-up/", samples_api.TakeUp.as_view()),
    path(f"{SAMPLE}/top-ups/", samples_api.TopUps.as_view()),
]
