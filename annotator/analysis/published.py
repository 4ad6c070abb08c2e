"""Counts of a published study, as somebody pastes or uploads them: a category and a number on each line."""

import csv
import io

from annotator.web.errors import BadInput

LARGEST = 100_000  # bytes


def published_in(content: bytes) -> dict[str, int]:
    """Comma, semicolon or tab apart; a first line whose last cell holds no digit is a heading."""
    if len(content) > LARGEST:
        raise BadInput("Published counts are a short table: a category and a number on each line.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("The file of published counts is not text in UTF-8.") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise BadInput("Give the published counts: a category and a number on each line, as in “Crash, 514”.")
    mark = max(",;\t", key=lines[-1].count)
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)]
    if len(rows) > 1 and not any(sign.isdigit() for sign in rows[0][-1]):
        rows = rows[1:]
    counts: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        if not is_number(row):
            raise BadInput(
                f"Line {number} of the published counts is no category and whole number: “{', '.join(row)[:80]}”."
            )
        if row[0] in counts:
            raise BadInput(f"“{row[0][:80]}” is given twice in the published counts.")
        counts[row[0]] = int(row[1])
    return counts


def is_number(row: list[str]) -> bool:
    return len(row) == 2 and bool(row[0]) and row[1].isascii() and row[1].isdigit() and len(row[1]) < 10
