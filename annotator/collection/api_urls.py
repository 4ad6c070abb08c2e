"""REST addresses of collection."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
