"""What others may do with a release, in a few words."""

from typing import Any

NOTE = """# Licence

The labels, answers, reasons and descriptions of this data set: {name} ({id}), {url}

By {people}.

{texts}

The script `check.py` is part of Concord, under the Apache License 2.0.
"""
TEXTS = {
    "left_out": "Titles and texts of pull requests and issues stay with their authors. They are not in the data set; `url` leads to them.",
    "hashed": "Titles and texts of pull requests and issues stay with their authors. The data set holds their SHA-256 alone; `url` leads to them.",
    "included": "Titles and texts of pull requests and issues were written by their authors, are under the terms of the projects they were sent to, and are copied here for research.",
}


def licence_text(about: dict[str, Any]) -> str:
    people = ", ".join(each["name"] for each in about["creators"])
    return NOTE.format(**about["licence"], people=people, texts=TEXTS[about["texts"]])
