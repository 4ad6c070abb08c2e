"""Addresses of a study's people and protocol in the REST interface."""

from django.urls import path

from annotator.studies import api

app_name = "studies-api"
STUDY = "studies/<slug:slug>/"
urlpatterns = [
    path("join/", api.Join.as_view(), name="join"),
    path(STUDY, api.OneStudy.as_view(), name="study"),
    path(f"{STUDY}members/", api.Members.as_view(), name="members"),
    path(f"{STUDY}members/<str:username>/", api.Member.as_view(), name="member"),
    path(f"{STUDY}invitations/", api.Invitations.as_view(), name="invitations"),
    path(f"{STUDY}invitations/<slug:key>/", api.Invitation.as_view(), name="invitation"),
    path(f"{STUDY}protocol/", api.OneProtocol.as_view(), name="protocol"),
    path(f"{STUDY}protocol/deviations/", api.Deviations.as_view(), name="deviations"),
]
