"""What every answer of the web server carries, and how a refusal is said."""

import logging
from collections.abc import Callable, Mapping

from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from annotator.web.errors import BadInput, Refused
from annotator.web.guarded import refusal_in

Handler = Callable[[HttpRequest], HttpResponse]
MOST_SENT = 2 * settings.UPLOAD_LIMIT  # bytes: files go to a disk while they come in, before anybody is asked who sends
logger = logging.getLogger(__name__)


class SecurityHeaders:
    """The content security policy and its like, on each answer."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        is_large = length.isascii() and length.isdigit() and (len(length) > 15 or int(length) > MOST_SENT)
        response = too_large(request) if is_large else self.get_response(request)
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
        if unstorable(problem):
            logger.warning("refused what no field had refused: %s", problem, exc_info=problem)
            problem = BadInput(UNSTORABLE)
        elif refusal := refusal_in(problem):
            logger.warning("a guard of the database spoke: %s", problem, exc_info=problem)
            problem = refusal
        return self.said(request, problem) if isinstance(problem, BadInput | Refused) else None

    def said(self, request: HttpRequest, problem: BadInput | Refused) -> HttpResponse:
        if request.path.startswith("/api/"):
            return problem_document(status=problem.status, title=type(problem).__name__, detail=str(problem))
        return render(request, "errors/refused.html", {"problem": problem}, status=problem.status)


UNSTORABLE = (
    "Something that was sent holds a NUL character, half of a character pair or more than a field takes. "
    "Nothing was stored: take it out and send again."
)


def unstorable(problem: Exception) -> bool:
    """What a database's driver says of text or a number that it cannot hold."""
    is_text = isinstance(problem, ValueError) and "NUL (0x00)" in str(problem)
    return is_text or isinstance(problem, UnicodeEncodeError | DataError)


def too_large(request: HttpRequest) -> HttpResponse:
    said = f"The request has more than {MOST_SENT:,} bytes and was not read. Send less at once."
    if request.path.startswith("/api/"):
        return problem_document(status=413, title="Request Entity Too Large", detail=said)
    return HttpResponse(said, status=413, content_type="text/plain; charset=utf-8")


def problem_document(
    *, status: int, title: str, detail: str, errors: Mapping[str, list[str]] | None = None
) -> JsonResponse:
    """RFC 9457; `errors` where the detail is the first of several."""
    body: dict[str, object] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    body |= {"errors": errors} if errors else {}
    return JsonResponse(body, status=status, content_type="application/problem+json")
