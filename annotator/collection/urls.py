"""Addresses of collection, below a study."""

from django.urls import URLPattern

app_name = "collection"
urlpatterns: list[URLPattern] = []
