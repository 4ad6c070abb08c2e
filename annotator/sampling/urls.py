"""Addresses of sampling, below a study."""

from django.urls import URLPattern

app_name = "sampling"
urlpatterns: list[URLPattern] = []
