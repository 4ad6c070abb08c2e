"""REST addresses of screening."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
