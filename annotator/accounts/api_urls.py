"""Addresses of one's own account in the REST interface."""

from django.urls import path

from annotator.accounts import api

app_name = "accounts-api"
urlpatterns = [
    path("me/", api.me, name="me"),
    path("me/tokens/", api.tokens, name="tokens"),
    path("me/tokens/<slug:key>/", api.token, name="token"),
]
