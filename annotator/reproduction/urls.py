"""Addresses of reproduction."""

from django.urls import URLPattern

app_name = "reproduction"
urlpatterns: list[URLPattern] = []
