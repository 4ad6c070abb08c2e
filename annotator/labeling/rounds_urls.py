"""Addresses of the rounds, taken up by the stage's own."""

from django.urls import path

from annotator.labeling import rounds_views

patterns = [
    path("rounds/", rounds_views.list_rounds, name="rounds"),
    path("rounds/<int:number>/", rounds_views.show, name="round"),
    path("rounds/<int:number>/gate/", rounds_views.gate, name="gate"),
    path("rounds/<int:number>/hand-on/", rounds_views.hand_on, name="hand_on"),
    path("rounds/<int:number>/further/", rounds_views.further, name="further"),
    path("rounds/<int:number>/flags/", rounds_views.decide_flags, name="flags"),
]
