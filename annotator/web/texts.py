"""Texts that no database and no file can hold, wherever they come from."""

from typing import Any

from annotator.web.errors import BadInput


def check_texts(value: Any, place: str = "The text") -> None:
    """Every text in lists, pairs and mappings; what is refused is told with its place."""
    if isinstance(value, str):
        check_text(value, place)
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            check_texts(entry, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, entry in value.items():
            check_text(key, place)
            check_texts(entry, f"{place}.{key}")


def check_text(text: str, place: str = "The text") -> None:
    """Refuse a NUL, or half of a character pair."""
    if "\x00" in text:
        raise BadInput(f"{place} holds a NUL character. Remove it and send again.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{place} holds half of a character pair (a lone surrogate). Remove it and send again."
        ) from None
