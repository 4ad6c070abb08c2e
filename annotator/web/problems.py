"""Errors of the REST interface as problem documents (RFC 9457)."""

from typing import Any

from django.http import HttpResponse
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotator.web.errors import BadInput, Refused
from annotator.web.middleware import problem_document


def handle(problem: Exception, context: dict[str, Any]) -> Response | HttpResponse | None:
    """The exception handler of REST framework, with one body for every error."""
    if isinstance(problem, BadInput | Refused):
        return problem_document(status=problem.status, title=type(problem).__name__, detail=str(problem))
    response = exception_handler(problem, context)
    if response is None:
        return None
    body: dict[str, Any] = {"type": "about:blank", "title": response.status_text, "status": response.status_code}
    if isinstance(problem, ValidationError):
        body |= {"detail": "Some fields cannot be taken as they are.", "errors": response.data}
    else:
        body["detail"] = str(problem.detail) if isinstance(problem, APIException) else response.status_text
    response.data = body
    response.content_type = "application/problem+json"
    return response
