"""Studies and their people."""

from django.urls import path

from annotator.studies import views

app_name = "studies"
urlpatterns = [
    path("", views.home, name="home"),
    path("join/<str:token>/", views.join, name="join"),
    path("<slug:slug>/about/", views.about, name="about"),
    path("<slug:slug>/members/", views.members, name="members"),
    path("<slug:slug>/members/<str:username>/", views.member, name="member"),
    path("<slug:slug>/invitations/<slug:key>/revoke/", views.revoke, name="revoke"),
    path("<slug:slug>/protocol/", views.protocol, name="protocol"),
]
