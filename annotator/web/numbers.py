"""Numbers as addresses and forms hold them."""

MOST_DIGITS = 9  # what fits an integer column


def whole(text: str) -> int | None:
    """The number, or None where the text is none that a row could have."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
