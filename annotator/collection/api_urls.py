"""REST addresses of collection."""

from django.urls import path

from annotator.collection import api, near_duplicates_api
from annotator.collection.addresses import ITEM

STUDY = "studies/<slug:slug>"
HARVESTS = f"{STUDY}/harvests"
ONE = f"{HARVESTS}/<int:number>"
urlpatterns = [
    path(f"{HARVESTS}/", api.Harvests.as_view()),
    path(f"{HARVESTS}/preview/", api.Preview.as_view()),
    path(f"{ONE}/", api.OneHarvest.as_view()),
    path(f"{ONE}/pause/", api.Pause.as_view()),
    path(f"{ONE}/resume/", api.Resume.as_view()),
    path(f"{ONE}/cancel/", api.Cancel.as_view()),
    path(f"{ONE}/again/", api.Again.as_view()),
    path(f"{ONE}/sampling/", api.Sampling.as_view()),
    path(f"{ONE}/findings/", api.Findings.as_view()),
    path(f"{ONE}/windows/", api.Windows.as_view()),
    path(f"{STUDY}/github-tokens/", api.Tokens.as_view()),
    path(f"{STUDY}/github-tokens/<str:key>/", api.OneToken.as_view()),
    path(f"{STUDY}/comparisons/", near_duplicates_api.Comparisons.as_view()),
    path(f"{STUDY}/comparisons/<int:number>/", near_duplicates_api.OneComparison.as_view()),
    path(f"{STUDY}/comparisons/<int:number>/pairs/", near_duplicates_api.Pairs.as_view()),
    path(f"{STUDY}/items/", api.Items.as_view()),
    path(f"{STUDY}/{ITEM}/", api.OneItem.as_view()),
]
