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
    path(FACET, api.show, name="show"),
    path(f"{FACET}decision/", api.decide, name="decide"),
    path(f"{FACET}change/", api.change, name="change"),
    path(f"{FACET}stand/", api.stand, name="stand"),
    path(f"{FACET}decision-together/", api.decide_together, name="decide-together"),
    path(f"{BUG}remarks/", api.remarks, name="remarks"),
    path(f"{BUG}decisions/", api.decisions, name="decisions"),
    path(f"{BUG}reopen/", api.reopen, name="reopen"),
    path(f"{ROUND}majority/", api.majority, name="majority"),
    path(f"{ROUND}unanimous/", api.unanimous, name="unanimous"),
    path(f"{ROUND}unanimous/<int:bug>/", api.pick, name="pick"),
    path(f"{STUDY}meeting/", api.meeting, name="meeting"),
    path(f"{STUDY}meeting/end/", api.end_meeting, name="end-meeting"),
]
