"""What a program may send: JSON with no text that a database or a file could not hold."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from annotator.web.texts import check_texts


class CheckedJSON(JSONParser):
    """JSON in UTF-8. How long it may be is checked before: see the settings."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            sent = super().parse(stream, media_type, parser_context)
            check_texts(sent, "body")
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        return sent
