"""Addresses of labelling, below a study."""

from django.urls import path

from annotator.labeling import rounds_urls, views

app_name = "labeling"
urlpatterns = [
    *rounds_urls.patterns,
    path("rounds/<int:number>/label/", views.label, name="label"),
    path("rounds/<int:number>/mine/", views.mine, name="mine"),
    path("rounds/<int:number>/bugs/<int:bug>/", views.bug, name="bug"),
    path("rounds/<int:number>/bugs/<int:bug>/read/", views.read, name="read"),
    path("rounds/<int:number>/bugs/<int:bug>/draft/", views.draft, name="draft"),
    path("rounds/<int:number>/bugs/<int:bug>/files/<int:position>/", views.file, name="file"),
]
