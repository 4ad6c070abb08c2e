"""What every answer of the web server carries, and how a refusal is said."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from annotator.web.errors import BadInput, Refused

Handler = Callable[[HttpRequest], HttpResponse]


class SecurityHeaders:
    """The content security policy and its like, on each answer."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        if not request.path.startswith(settings.STATIC_URL):
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class Refusals:
    """Turns BadInput and Refused into one clear page or problem document, and refuses what no database could look up."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return self.said(request, BadInput("The address holds a NUL character. Take it out and try again."))
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponse | None:
        return self.said(request, problem) if isinstance(problem, BadInput | Refused) else None

    def said(self, request: HttpRequest, problem: BadInput | Refused) -> HttpResponse:
        if request.path.startswith("/api/"):
            return problem_document(status=problem.status, title=type(problem).__name__, detail=str(problem))
        return render(request, "errors/refused.html", {"problem": problem}, status=problem.status)


def problem_document(*, status: int, title: str, detail: str) -> JsonResponse:
    """RFC 9457."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JsonResponse(body, status=status, content_type="application/problem+json")
