"""Which issues a text says it closes, in GitHub's spellings: "Fixes #12", "closes: owner/name#3", "resolved <url>"."""

import re
from dataclasses import dataclass

UNREAD = re.compile(r"<!--.*?-->|^(?P<fence>```|~~~).*?^(?P=fence)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
NAME = r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+"
WORD = r"(?<![\w-])(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?)"
CLOSING = re.compile(
    rf"{WORD}:?\s+(?:(?P<name>{NAME})?#(?P<number>\d+)"
    rf"|https?://[^\s/]+/(?P<path>{NAME})/(?:issues|pull)/(?P<at>\d+))(?![\w])",
    re.IGNORECASE,
)


@dataclass(frozen=True, order=True)
class Reference:
    repository: str  # lower case: GitHub's names differ in no case
    number: int


def closes(text: str, *, repository: str) -> tuple[Reference, ...]:
    """In the order of the text, each once; comments and code don't count, as on GitHub."""
    found = CLOSING.finditer(UNREAD.sub(" ", text))
    named = (
        Reference((match["name"] or match["path"] or repository).lower(), int(match["number"] or match["at"]))
        for match in found
    )
    return tuple(dict.fromkeys(named))
