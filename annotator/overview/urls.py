"""Addresses of the pages that cross stages. The bugs and the history have a place of their own in the navigation."""

from django.urls import include, path

from annotator.overview import starting, views
from annotator.overview.bugs import replacing_views
from annotator.overview.bugs import views as bug_views
from annotator.overview.changes import uses
from annotator.overview.changes import views as change_views
from annotator.overview.coding import codes_views, grouping_views
from annotator.overview.flow import views as flow_views
from annotator.overview.guidance import views as guidance_views
from annotator.overview.nameless import cell
from annotator.overview.resetting import reset
from annotator.overview.rules import views as ruling_views

overview_patterns = [
    path("new/", starting.new_study, name="new_study"),
    path("<slug:slug>/", views.show, name="home"),
    path("<slug:slug>/flow/", flow_views.show, name="flow"),
    path("<slug:slug>/flow/flow.json", flow_views.document, name="flow_json"),
    path("<slug:slug>/flow/flow.pdf", flow_views.pdf, name="flow_pdf"),
    path("<slug:slug>/flow/flow.svg", flow_views.svg, name="flow_svg"),
    path("<slug:slug>/codebook/uses/", uses.codebook_uses, name="codebook_uses"),
    path("<slug:slug>/members/<str:username>/reset/", reset, name="reset"),
    path("<slug:slug>/rounds/new/", views.new_round, name="new_round"),
    path("<slug:slug>/rounds/<int:number>/close/", views.close, name="close_round"),
    path("<slug:slug>/rounds/<int:number>/codes/", codes_views.settle, name="codes"),
    path("<slug:slug>/rounds/<int:number>/bugs/<int:bug>/guidance/", guidance_views.everything, name="guidance"),
    path("<slug:slug>/rounds/<int:number>/bugs/<int:bug>/guidance/<slug:uid>/", guidance_views.category),
]
bug_patterns = [
    path("", bug_views.list_bugs, name="bugs"),
    path("<int:bug>/", bug_views.show, name="bug"),
    path("<int:bug>/files/<int:position>/", bug_views.file, name="file"),
    path("<int:bug>/flag/", bug_views.flag, name="flag"),
]
coding_patterns = [
    path("", grouping_views.board, name="board"),
    path("<slug:uid>/", grouping_views.code, name="code"),
]
change_patterns = [
    path("changes/", change_views.list_changes, name="list"),
    path("changes/<int:number>/", change_views.change, name="change"),
    path("changes/<int:number>/undo/", change_views.undo, name="undo"),
    path("changes/<int:number>/withdraw/", change_views.withdraw, name="withdraw"),
    path("changes/<int:number>/carry-out/", change_views.carry_out, name="carry_out"),
    path("changes/<int:number>/relabel/", change_views.relabel, name="relabel"),
    path("categories/<slug:uid>/merge/", change_views.merge, name="merge"),
    path("categories/<slug:uid>/split/", change_views.split, name="split"),
    path("categories/<slug:uid>/meaning/", change_views.redefine, name="redefine"),
    path("categories/<slug:uid>/retire/", change_views.retire, name="retire"),
]
CELL = "<slug:slug>/agreement/<int:number>/<slug:facet>/<str:first>/<str:second>/cell/<slug:row>/<slug:column>/"
ruling_patterns = [
    path("", ruling_views.rules, name="rules"),
    path("rules.json", ruling_views.download, name="download"),
]
urlpatterns = [
    path(CELL, cell),  # before the one of agreement, which cannot know what is undecided
    path("", include((overview_patterns, "overview"))),
    path("<slug:slug>/sampling/replace/", include(([path("", replacing_views.replace, name="bugs")], "replacing"))),
    path("<slug:slug>/bugs/", include((bug_patterns, "bugs"))),
    path("<slug:slug>/codebook/", include((change_patterns, "changes"))),
    path("<slug:slug>/codebook/facets/<slug:facet>/coding/", include((coding_patterns, "coding"))),
    path("<slug:slug>/codebook/facets/<slug:facet>/rules/", include((ruling_patterns, "ruling"))),
    path("<slug:slug>/history/", include(([path("", views.history, name="events")], "history"))),
]
