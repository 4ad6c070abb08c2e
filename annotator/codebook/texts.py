"""Texts that people write about a codebook: not empty, not endless, nothing that a file or a database could not hold."""

from annotator.codebook.reading import CONTROL, TEXT
from annotator.web.errors import BadInput


def checked(text: str, what: str, *, longest: int = TEXT, is_needed: bool = True) -> str:
    """Without blanks at the ends; BadInput says what to change."""
    text = text.replace("\r\n", "\n").strip()
    if is_needed and not text:
        raise BadInput(f"The {what} is empty. Write it before you keep it.")
    if len(text) > longest:
        raise BadInput(f"The {what} has more than {longest:,} characters. Shorten it.")
    if CONTROL.search(text):
        raise BadInput(f"The {what} holds a control character. Remove it and send again.")
    return text
