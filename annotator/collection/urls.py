"""Addresses of collection, below a study."""

from django.urls import path

from annotator.collection import list_views, near_duplicates_views, token_views, views
from annotator.collection.addresses import ITEM

app_name = "collection"
urlpatterns = [
    path("harvests/", views.list_harvests, name="harvests"),
    path("harvests/new/", views.new_harvest, name="new_harvest"),
    path("harvests/tokens/", token_views.tokens, name="tokens"),
    path("harvests/tokens/<str:key>/remove/", token_views.remove, name="remove_token"),
    path("harvests/<int:number>/", views.show, name="harvest"),
    path("harvests/<int:number>/progress/", views.progress, name="progress"),
    path("harvests/<int:number>/turn/", views.turn, name="turn"),
    path("harvests/<int:number>/schedule/", views.schedule, name="schedule"),
    path("harvests/<int:number>/sampling/", views.allow_sampling, name="allow_sampling"),
    path("harvests/<int:number>/findings/", list_views.findings, name="findings"),
    path("harvests/<int:number>/windows/", list_views.windows, name="windows"),
    path("harvests/<int:number>/faults.csv", list_views.faults, name="faults"),
    path("near-duplicates/", near_duplicates_views.newest, name="near_duplicates"),
    path("near-duplicates/<int:number>/", near_duplicates_views.earlier, name="comparison"),
    path("items/", list_views.items, name="items"),
    path(f"{ITEM}/files/<int:position>/", list_views.file, name="file"),
    path(f"{ITEM}/", list_views.item, name="item"),
]
