"""What a program may send: JSON with no text that a database or a file could not hold."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class CheckedJSON(JSONParser):
    """JSON in UTF-8. How long it may be is checked before: see the settings."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            sent = super().parse(stream, media_type, parser_context)
            check(sent)
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
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
