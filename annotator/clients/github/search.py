"""What is looked for, in the words of GitHub's search."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from annotator.clients.github.windows import Window

Kind = Literal["pull_request", "issue"]
State = Literal["", "open", "closed", "merged"]
Moment = Literal["merged", "closed", "created", "updated"]

NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
LOGIN = re.compile(r"[\w-]+(\[bot\])?", re.ASCII)
IS = {"pull_request": "is:pr", "issue": "is:issue"}


@dataclass(frozen=True)
class Query:
    """Pull requests or issues of one repository; the window's time is that of `moment`.

    Several labels must all be there; of several authors one is enough. Words in title or label are not part of it:
    GitHub can't search label names for words, so hits are filtered here, by `says`.
    """

    repository: str
    kind: Kind = "pull_request"
    state: State = ""
    moment: Moment = "created"
    labels: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.repository):
            raise ValueError(f"{self.repository!r} is not owner/name")
        if self.kind == "issue" and "merged" in (self.state, self.moment):
            raise ValueError("issues are closed, not merged")
        if strange := [name for name in self.authors if not LOGIN.fullmatch(name)]:
            raise ValueError(f"{strange[0]!r} is no GitHub user name")
        if any('"' in label or not label.strip() for label in self.labels):
            raise ValueError("a label is not empty and holds no quotation mark")

    def within(self, window: Window) -> str:
        terms = [f"repo:{self.repository}", IS[self.kind]]
        terms += [f"is:{self.state}"] if self.state else []
        terms += [f'label:"{label}"' for label in self.labels]
        terms += [f"author:{author}" for author in self.authors]
        return " ".join([*terms, f"{self.moment}:{window}"])


def says(texts: Iterable[str], words: Iterable[str]) -> bool:
    """Does a word begin like one of these, in any case? "fix" finds "Fixes" and "bug" finds "bugfix";
    "fault" does not find "default". No words: nothing is asked for, so yes."""
    pattern = "|".join(re.escape(word) for word in words)
    if not pattern:
        return True
    return any(re.search(rf"(?<![^\W_])(?:{pattern})", text, re.IGNORECASE) for text in texts)
