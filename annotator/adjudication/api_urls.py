"""Addresses of adjudication in the REST interface."""

from django.urls import path

from annotator.adjudication import api

app_name = "adjudication-api"
STUDY = "studies/<slug:slug>/"
BUG = f"{STUDY}bugs/<int:number>/"
FACET = f"{BUG}facets/<slug:facet>/"
ROUND = f"{STUDY}rounds/<int:number>/"
urlpatterns = [
    path(f"{STUDY}disputes/", api.Disputes.as_view(), name="disputes"),
    path(FACET, api.FacetOfBug.as_view(), name="show"),
    path(f"{FACET}decision/", api.Decide.as_view(), name="decide"),
    path(f"{FACET}change/", api.Change.as_view(), name="change"),
    path(f"{FACET}stand/", api.TakeStand.as_view(), name="stand"),
    path(f"{FACET}joint/", api.SetJointly.as_view(), name="set-jointly"),
    path(f"{STUDY}joint/", api.WaitingJointly.as_view(), name="waiting-jointly"),
    path(f"{FACET}decision-together/", api.DecideTogether.as_view(), name="decide-together"),
    path(f"{BUG}remarks/", api.Remarks.as_view(), name="remarks"),
    path(f"{BUG}decisions/", api.Decisions.as_view(), name="decisions"),
    path(f"{BUG}reopen/", api.Reopen.as_view(), name="reopen"),
    path(f"{ROUND}majority/", api.Majority.as_view(), name="majority"),
    path(f"{ROUND}unanimous/", api.Unanimous.as_view(), name="unanimous"),
    path(f"{ROUND}unanimous/<int:bug>/", api.Pick.as_view(), name="pick"),
    path(f"{STUDY}meeting/", api.Meeting.as_view(), name="meeting"),
    path(f"{STUDY}meeting/end/", api.EndMeeting.as_view(), name="end-meeting"),
]
