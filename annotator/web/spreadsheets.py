"""Cells that a spreadsheet program would run as a formula."""

import re
from collections.abc import Iterable
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")  # what would be run, and what looks as if made safe already


def safe(cell: str) -> str:
    """With an apostrophe before it where a spreadsheet would run it."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def safe_row(cells: Iterable[Any]) -> list[Any]:
    """Texts made safe, numbers as they are."""
    return [safe(cell) if isinstance(cell, str) else cell for cell in cells]
