"""REST addresses of reproduction."""

from django.urls import URLPattern

app_name = "reproduction-api"
urlpatterns: list[URLPattern] = []
