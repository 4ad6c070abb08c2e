"""Addresses of adjudication, below a study."""

from django.urls import path

from annotator.adjudication import joint_views, meeting_views, rater_views, record_views, views

app_name = "adjudication"
BUG = "adjudication/bugs/<int:number>/"
urlpatterns = [
    path("adjudication/", views.show_queue, name="queue"),
    path(BUG, views.show_bug, name="bug"),
    path(BUG + "joint/", joint_views.joint, name="joint"),
    path(BUG + "remark/", views.remark, name="remark"),
    path(BUG + "files/<int:position>/", views.file, name="file"),
    path(BUG + "history/", record_views.history, name="history"),
    path(BUG + "change/", record_views.change, name="change"),
    path(BUG + "reopen/", record_views.reopen, name="reopen"),
    path("adjudication/rounds/<int:number>/majority/", views.majority, name="majority"),
    path("adjudication/rounds/<int:number>/after/", record_views.after, name="after"),
    path("adjudication/mine/", rater_views.mine, name="mine"),
    path("adjudication/mine/bugs/<int:number>/", rater_views.own, name="own"),
    path("adjudication/meeting/", meeting_views.meeting, name="meeting"),
    path("adjudication/meeting/start/", meeting_views.start, name="start"),
    path("adjudication/meeting/end/", meeting_views.end, name="end"),
    path("adjudication/meeting/bugs/<int:number>/", meeting_views.decide, name="decide"),
    path("adjudication/audit/", record_views.audit, name="audit"),
    path("adjudication/audit/<int:number>/accept/", record_views.accept, name="accept"),
    path("adjudication/audit/<int:number>/bugs/<int:bug>/", record_views.pick, name="pick"),
]
