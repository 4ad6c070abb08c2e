"""Addresses of screening, below a study."""

from django.urls import path

from annotator.screening import after_views, criteria_views, screenings_views, views

app_name = "screening"
ONE = "screening/<int:number>/"
CANDIDATE = ONE + "candidates/<int:candidate>/"
urlpatterns = [
    path("screening/", screenings_views.overview, name="overview"),
    path("screening/new/", screenings_views.new, name="new"),
    path("screening/criteria/", criteria_views.show, name="criteria"),
    path("screening/criteria/<slug:key>/", criteria_views.change, name="criterion"),
    path("screening/candidates/", screenings_views.candidates, name="candidates"),
    path(ONE, screenings_views.show, name="screening"),
    path(ONE + "close/", screenings_views.close, name="close"),
    path(ONE + "conflicts/", screenings_views.conflicts, name="conflicts"),
    path(ONE + "read/", views.read, name="read"),
    path(ONE + "mine/", views.mine, name="mine"),
    path(CANDIDATE, views.candidate, name="candidate"),
    path(CANDIDATE + "text/", views.text, name="text"),
    path(CANDIDATE + "files/<int:position>/", views.file, name="file"),
    path(CANDIDATE + "vote-again/", after_views.vote_again, name="vote_again"),
    path(CANDIDATE + "decide/", after_views.decide, name="decide"),
    path(CANDIDATE + "reopen/", after_views.reopen, name="reopen"),
    path(CANDIDATE + "drop/", after_views.drop, name="drop"),
]
