"""YAML from anybody: its size, depth and number of parts are bounded before anything is built of it."""

import re
from typing import TYPE_CHECKING, Any

import yaml

from annotator.web.errors import BadInput

if TYPE_CHECKING:
    Base = yaml.SafeLoader
else:  # thirty times as fast; a PyYAML that was built without it reads the same
    Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

LONGEST, MOST_PARTS, DEEPEST = 500_000, 200_000, 40
HALF = "holds half a character (a lone surrogate)."
SAID = {  # what the reader in C says
    "found invalid Unicode character escape code": HALF,
    "exceeded maximum nesting depth": "is nested too deeply.",
}
HALVES = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)


def load(text: str, *, loader: type[yaml.SafeLoader], what: str) -> Any:
    """What the loader makes of it. BadInput where it is too much, YAMLError where it is no YAML."""
    if len(text) > LONGEST:
        raise BadInput(f"{what} is longer than {LONGEST:,} characters: shorten it.")
    text = HALVES.sub(joined, text)
    try:
        refuse_vast(text, what)
        return yaml.load(text, Loader=loader)  # noqa: S506  # a SafeLoader with less in it
    except UnicodeEncodeError:
        raise BadInput(f"{what} {HALF}") from None
    except yaml.MarkedYAMLError as problem:
        if problem.problem in SAID:
            raise BadInput(f"{what} {SAID[problem.problem]}") from None
        raise


def joined(found: re.Match[str]) -> str:
    """One escape for a character that JSON writes as two halves."""
    high, low = int(found[1], 16), int(found[2], 16)
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08x}"


def refuse_vast(text: str, what: str) -> None:
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=Base)):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if count > MOST_PARTS:
            raise BadInput(f"{what} has more than {MOST_PARTS:,} parts: shorten it.")
        if isinstance(event, yaml.AliasEvent):  # a few bytes each, they stand for as much as one likes
            raise BadInput(f"Line {line} of {lowered(what)} refers to another place of it: write the text out.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise BadInput(f"Line {line} of {lowered(what)} is nested too deeply.")


def lowered(what: str) -> str:
    return what[0].lower() + what[1:]
