"""The project's addresses and an empty page behind the same middleware."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


@login_required
def empty(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.user.get_username())


urlpatterns = [path("bench/empty/", empty), path("", include("annotator.urls"))]
