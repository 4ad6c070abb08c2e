"""REST addresses of final labels, their counts, tables and figures."""

from django.urls import path

from annotator.analysis import api, audit_api, figure_api

urlpatterns = [
    path("studies/<slug:slug>/finals/", api.Finals.as_view()),
    path("studies/<slug:slug>/label-audits/", audit_api.Audits.as_view()),
    path("studies/<slug:slug>/label-audits/<int:number>/suspects/", audit_api.Suspects.as_view()),
    path("studies/<slug:slug>/label-audits/<int:number>/suspects/<int:rank>/", audit_api.OneSuspect.as_view()),
    path("studies/<slug:slug>/tables/", api.Tables.as_view()),
    path("studies/<slug:slug>/tables/<slug:kind>/", figure_api.OneTable.as_view()),
    path("studies/<slug:slug>/figures/", figure_api.Figures.as_view()),
    path("studies/<slug:slug>/figures/<slug:key>/", figure_api.OneFigure.as_view()),
    path("studies/<slug:slug>/figures/<slug:key>/figure.<slug:format_>", figure_api.FigureFile.as_view()),
]
