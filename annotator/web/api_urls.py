"""The schema of the REST interface, and pages to read it by."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from annotator.web.api import root

urlpatterns = [
    path("", root, name="api"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(template_name="web/docs.html", title="REST interface · Concord"),
        name="docs",
    ),
]
