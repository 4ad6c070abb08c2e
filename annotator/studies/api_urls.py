"""Addresses of a study's people and protocol in the REST interface."""

from django.urls import path

from annotator.studies import api

app_name = "studies-api"
STUDY = "studies/<slug:slug>/"
urlpatterns = [
    path("join/", api.join, name="join"),
    path(STUDY, api.OneStudy.as_view(), name="study"),
    path(f"{STUDY}members/", api.Members.as_view(), name="members"),
    path(f"{STUDY}members/<str:username>/", api.member, name="member"),
    path(f"{STUDY}invitations/", api.invitations, name="invitations"),
    path(f"{STUDY}invitations/<slug:key>/", api.invitation, name="invitation"),
    path(f"{STUDY}protocol/", api.protocol, name="protocol"),
    path(f"{STUDY}protocol/deviations/", api.deviations, name="deviations"),
]
