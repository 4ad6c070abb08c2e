"""Addresses of screening, below a study."""

from django.urls import URLPattern

app_name = "screening"
urlpatterns: list[URLPattern] = []
