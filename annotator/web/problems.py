"""Errors of the REST interface as problem documents (RFC 9457)."""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotator.web.errors import BadInput, Refused
from annotator.web.middleware import problem_document


def handle(problem: Exception, context: dict[str, Any]) -> Response | HttpResponse | None:
    """The exception handler of REST framework, with one body for every error."""
    if isinstance(problem, BadInput):
        errors = {"non_field_errors": list(problem.all)} if len(problem.all) > 1 else {}
        return problem_document(status=problem.status, title="BadInput", detail=str(problem), errors=errors)
    if isinstance(problem, Refused):
        return problem_document(status=problem.status, title=type(problem).__name__, detail=str(problem))
    if isinstance(problem, RequestDataTooBig):
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        said = f"The body has more than {limit:,} bytes. Send less at once."
        return problem_document(status=413, title="Request Entity Too Large", detail=said)
    response = exception_handler(problem, context)
    if response is None:
        return None
    body: dict[str, Any] = {"type": "about:blank", "title": response.status_text, "status": response.status_code}
    if isinstance(problem, ValidationError):
        body |= {"detail": "Some fields cannot be taken as they are.", "errors": response.data}
    else:
        told = response.data.get("detail") if isinstance(response.data, dict) else None
        body["detail"] = str(told or response.status_text)
    response.data = body
    response.content_type = "application/problem+json"
    return response
