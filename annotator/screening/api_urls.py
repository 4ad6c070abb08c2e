"""REST addresses of screening."""

from django.urls import path

from annotator.screening import after_api, api

STUDY = "studies/<slug:slug>"
SCREENING = f"{STUDY}/screenings/<int:number>"
CANDIDATE = f"{SCREENING}/candidates/<int:candidate>"
urlpatterns = [
    path(f"{STUDY}/criteria/", api.Criteria.as_view()),
    path(f"{STUDY}/criteria/<slug:key>/", api.OneCriterion.as_view()),
    path(f"{STUDY}/criteria/<slug:key>/retire/", api.RetireCriterion.as_view()),
    path(f"{STUDY}/screening-counts/", api.Counts.as_view()),
    path(f"{STUDY}/candidates/", after_api.Candidates.as_view()),
    path(f"{STUDY}/screenings/", api.Screenings.as_view()),
    path(f"{SCREENING}/", api.OneScreening.as_view()),
    path(f"{SCREENING}/close/", api.Close.as_view()),
    path(f"{SCREENING}/mine/", api.Mine.as_view()),
    path(f"{SCREENING}/next/", api.Next.as_view()),
    path(f"{CANDIDATE}/", after_api.OneCandidate.as_view()),
    path(f"{CANDIDATE}/reading/", api.OneReading.as_view()),
    path(f"{CANDIDATE}/vote/", api.OwnVote.as_view()),
    path(f"{CANDIDATE}/later/", api.Later.as_view()),
    path(f"{CANDIDATE}/vote-again/", after_api.VoteAgain.as_view()),
    path(f"{CANDIDATE}/decision/", after_api.Decision.as_view()),
    path(f"{CANDIDATE}/reopen/", after_api.Reopen.as_view()),
    path(f"{CANDIDATE}/drop/", after_api.Drop.as_view()),
]
