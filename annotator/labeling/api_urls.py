"""REST addresses of rounds and turns."""

from django.urls import path

from annotator.labeling import api

STUDY = "studies/<slug:slug>"
ROUND = f"{STUDY}/rounds/<int:number>"
TURN = f"{ROUND}/bugs/<int:bug>"
urlpatterns = [
    path(f"{ROUND}/", api.OneRound.as_view()),
    path(f"{ROUND}/gate/", api.Gate.as_view()),
    path(f"{ROUND}/mine/", api.Turns.as_view()),
    path(f"{ROUND}/mine/again/", api.Again.as_view()),
    path(f"{ROUND}/next/", api.Next.as_view()),
    path(f"{ROUND}/flags/", api.Flags.as_view()),
    path(f"{ROUND}/further-bugs/", api.FurtherBugs.as_view()),
    path(f"{ROUND}/skipped/", api.Skipped.as_view()),
    path(f"{TURN}/", api.Turn.as_view()),
    path(f"{TURN}/answers/", api.Answers.as_view()),
    path(f"{TURN}/draft/", api.Draft.as_view()),
    path(f"{TURN}/codes/", api.Codes.as_view()),
    path(f"{TURN}/skip/", api.Skip.as_view()),
    path(f"{TURN}/park/", api.Park.as_view()),
    path(f"{TURN}/further-bugs/", api.FurtherNotes.as_view()),
    path(f"{TURN}/flags/", api.OwnFlags.as_view()),
]
