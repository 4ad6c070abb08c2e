"""What a harvest looks for, as a person says it: checked here, stored with the harvest, the same again when asked again."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from annotator.web.errors import BadInput

OWNER_NAME = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)
PERIOD = re.compile(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)", re.ASCII)
GITHUB_OPENED = dt.date(2008, 1, 1)


@dataclass(frozen=True)
class Wanted:
    """No `last`: until now. `limit` is of each repository: its newest so many."""

    repositories: tuple[str, ...]
    kind: Literal["pull_request", "issue"] = "pull_request"
    moment: Literal["merged", "closed", "created"] = "created"
    first: dt.date = GITHUB_OPENED
    last: dt.date | None = None
    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    limit: int | None = None

    def __post_init__(self) -> None:
        if strange := [name for name in self.repositories if not OWNER_NAME.fullmatch(name)]:
            raise BadInput(f"“{strange[0]}” is no repository: give it as owner/name.")
        if not self.repositories:
            raise BadInput("Name at least one repository as owner/name.")
        if self.kind == "issue" and self.moment == "merged":
            raise BadInput("Issues are closed, not merged: give --closed instead.")
        if self.last is not None and self.last < self.first:
            raise BadInput(f"The period ends ({self.last}) before it starts ({self.first}): swap its dates.")
        if any('"' in label or not label.strip() for label in self.labels):
            raise BadInput("A label is not empty and holds no quotation mark.")
        if self.limit is not None and self.limit < 1:
            raise BadInput("A limit is at least 1.")

    @property
    def state(self) -> Literal["", "closed", "merged"]:
        return "" if self.moment == "created" else self.moment

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        plain = asdict(self)
        for name, value in plain.items():
            if isinstance(value, dt.date):
                plain[name] = value.isoformat()
            elif isinstance(value, tuple):
                plain[name] = list(value)
        return plain


def from_document(document: Mapping[str, Any]) -> Wanted:
    values = dict(document)
    for name in ("repositories", "words", "labels"):
        values[name] = tuple(values[name])
    values["first"] = dt.date.fromisoformat(values["first"])
    values["last"] = dt.date.fromisoformat(values["last"]) if values["last"] else None
    return Wanted(**values)


def period(text: str) -> tuple[dt.date, dt.date]:
    """`2018-06-01..2021-10-31`, both days included."""
    found = PERIOD.fullmatch(text.strip())
    try:
        first, last = (dt.date.fromisoformat(day) for day in found.groups()) if found else ("", "")
    except ValueError:
        first = last = ""
    if not isinstance(first, dt.date) or not isinstance(last, dt.date):
        raise BadInput(f"“{text[:40]}” is no period: write it as 2018-06-01..2021-10-31, both days included.")
    return first, last


def words(text: str) -> tuple[str, ...]:
    """`fix, defect error`: one of them is enough."""
    return tuple(dict.fromkeys(word.lower() for word in re.split(r"[\s,]+", text) if word))
