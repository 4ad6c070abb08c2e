"""Addresses of agreement, below a study."""

from django.urls import path

from annotator.agreement import screened_views, views

app_name = "agreement"
PAIR = "agreement/<int:number>/<slug:facet>/<str:first>/<str:second>/"
urlpatterns = [
    path("agreement/", views.trend, name="trend"),
    path("agreement/pooled/", views.pooled, name="pooled"),
    path("agreement/screening/<int:number>/", screened_views.show, name="screening"),
    path("agreement/<int:number>/", views.round_page, name="round"),
    path("agreement/<int:number>/table.csv", views.table_csv, name="csv"),
    path("agreement/<int:number>/table.tex", views.table_latex, name="latex"),
    path("agreement/<int:number>/continue/", views.go_on, name="continue"),
    path(PAIR, views.pair, name="pair"),
    path(PAIR + "cell/<slug:row>/<slug:column>/", views.cell, name="cell"),
]
