"""Every column of a release, for people to read."""

from annotator.publication.columns import Table
from annotator.publication.contents import HOLDS


def column_page(found: list[Table]) -> str:
    """Every column of every table."""
    parts = ["# Columns\n\nA text is never missing, only empty. Times are UTC."]
    for table in found:
        rows = [
            f"| {cell(column.name)} | {column.kind.replace('_', ' or ')} | {cell(column.says)} |"
            for column in table.columns
        ]
        parts.append(
            f"## {table.name}\n{HOLDS[table.name]}\n\n"
            + "\n".join(["| column | kind | holds |", "| --- | --- | --- |", *rows])
        )
    return "\n\n".join(parts) + "\n"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
