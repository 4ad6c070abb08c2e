"""One thing that needs the viewer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    title: str
    text: str
    url: str
    verb: str
