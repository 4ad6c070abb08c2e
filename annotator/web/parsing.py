"""What a program may send: JSON of a bounded size, with no text that a database or a file could not hold."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class BoundedJSON(JSONParser):
    """JSON in UTF-8, at most as long as a form may be."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(f"The body has more than {limit:,} bytes. Send less at once.")
        try:
            sent = super().parse(BytesIO(body), media_type, parser_context)
            check(sent)
        except (UnicodeDecodeError, RecursionError) as problem:
            raise ParseError(f"The body is no JSON in UTF-8: {problem}.") from None
        return sent


def check(value: Any, place: str = "body") -> None:
    """Refuse a NUL or half a character pair wherever it stands, and say where."""
    if isinstance(value, str):
        check_text(value, place)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            check(entry, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, entry in value.items():
            check_text(key, place)
            check(entry, f"{place}.{key}")


def check_text(text: str, place: str) -> None:
    if "\x00" in text:
        raise ParseError(f"{place} holds a NUL character. Remove it and send again.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParseError(
            f"{place} holds half of a character pair (a lone surrogate). Remove it and send again."
        ) from None
