"""Addresses of labelling, below a study."""

from django.urls import path

from annotator.labeling import rounds_views, views

app_name = "labeling"
urlpatterns = [
    path("rounds/", rounds_views.list_rounds, name="rounds"),
    path("rounds/<int:number>/", rounds_views.show, name="round"),
    path("rounds/<int:number>/gate/", rounds_views.gate, name="gate"),
    path("rounds/<int:number>/hand-on/", rounds_views.hand_on, name="hand_on"),
    path("rounds/<int:number>/further/", rounds_views.further, name="further"),
    path("rounds/<int:number>/flags/", rounds_views.decide_flags, name="flags"),
    path("rounds/<int:number>/label/", views.label, name="label"),
    path("rounds/<int:number>/mine/", views.mine, name="mine"),
    path("rounds/<int:number>/mine/again/", views.again, name="again"),
    path("rounds/<int:number>/bugs/<int:bug>/", views.bug, name="bug"),
    path("rounds/<int:number>/bugs/<int:bug>/read/", views.read, name="read"),
    path("rounds/<int:number>/bugs/<int:bug>/draft/", views.draft, name="draft"),
    path("rounds/<int:number>/bugs/<int:bug>/files/<int:position>/", views.file, name="file"),
]
