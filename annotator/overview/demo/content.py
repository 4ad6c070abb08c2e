"""The demo's text, read from the YAML files beside this module."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from annotator.web import diff

HERE = Path(__file__).parent
FRAMEWORKS = ("tessera", "lumen", "axon", "corvid")
FACETS = ("root_cause", "symptom", "stage", "level")
RATERS = ("alder", "birch")


@dataclass(frozen=True)
class Turn:
    """A comment; with a path it stands at a line of the diff."""

    by: str
    at: dt.datetime
    text: str
    path: str = ""


@dataclass(frozen=True)
class File:
    path: str
    patch: str

    @cached_property
    def lines(self) -> tuple[diff.Line, ...]:
        return tuple(line for block in diff.blocks(self.patch) for line in block.lines)

    @property
    def first_change(self) -> int:
        """The first added line, else the line after the first removal."""
        return next((line.new for line in self.lines if line.kind == "add" and line.new), 1)


@dataclass(frozen=True)
class Quote:
    """What a rater pins: where it stands on the bug's page, and its words."""

    kind: str
    anchor: str
    place: str
    text: str


@dataclass(frozen=True)
class Vote:
    """What one rater answers."""

    answers: Mapping[str, str]
    not_a_bug: str  # the reason, or empty
    confidence: str
    why: str
    cites: str


@dataclass(frozen=True)
class Settlement:
    """How one dispute was settled after the close."""

    facet: str
    by: str  # the adjudicator, or "discussed": the raters themselves
    reason: str
    note: str


@dataclass(frozen=True)
class DemoBug:
    round: str  # pilot, main-1, main-2, or empty: not in a round yet
    about: str
    labels: Mapping[str, str]
    votes: Mapping[str, Vote]
    settled: tuple[Settlement, ...]


@dataclass(frozen=True)
class PullRequest:
    repository: str
    number: int
    title: str
    author: str
    opened: dt.datetime
    merged: dt.datetime
    issue: int
    tags: tuple[str, ...]
    body: str
    turns: tuple[Turn, ...]
    files: tuple[File, ...]
    bugs: tuple[DemoBug, ...]

    @property
    def url(self) -> str:
        """A host name that is reserved for examples: the link leads nowhere."""
        return f"https://git.example/{self.repository}/pull/{self.number}"

    def quote(self, words: str) -> Quote | None:
        """The first line of the diff, else comment, else line of the description that holds these words."""
        return next(self._places(words), None)

    def _places(self, words: str) -> Iterator[Quote]:
        for position, file in enumerate(self.files, 1):
            for line in file.lines:
                if words in line.text or words in f"{diff.SIGNS[line.kind]}{line.text}".replace("\N{MINUS SIGN}", "-"):
                    side, at = ("o", line.old) if line.kind == "del" else ("n", line.new)
                    yield Quote("line", f"f{position}{side}{at}", f"{file.path}:{at}", line.text.strip())
        for position, turn in enumerate(self.turns, 1):
            if words in turn.text:
                yield Quote("comment", f"c{position}", f"{turn.by}, {turn.at:%-d %b %Y}", " ".join(turn.text.split()))
        for text in re.split(r"(?<=[.!?])\s|\n", self.body):
            if words in text:
                yield Quote("description", "desc", "Description", text.strip())


def pull_requests() -> tuple[PullRequest, ...]:
    """All of them, framework by framework."""
    return tuple(pull for name in FRAMEWORKS for pull in _read(HERE / f"{name}.yaml"))


def _read(path: Path) -> Iterator[PullRequest]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    for raw in document["pull_requests"]:
        yield PullRequest(
            repository=document["repository"],
            number=raw["number"],
            title=raw["title"],
            author=raw["author"],
            opened=_time(raw["opened"]),
            merged=_time(raw["merged"]),
            issue=raw["issue"],
            tags=tuple(raw["labels"]),
            body=unwrapped(raw["body"]),
            turns=tuple(_turn(turn) for turn in raw["comments"]),
            files=tuple(File(file["path"], file["patch"]) for file in raw["files"]),
            bugs=tuple(_bug(bug) for bug in raw["bugs"]),
        )


NEW_BLOCK = re.compile(r"\s*([-*|>#]|\d+\.|```)")


def unwrapped(text: str) -> str:
    """Paragraphs in one line each: on the page, as on GitHub, the end of a line is a break."""
    out: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith("```")
        goes_on = (
            out and out[-1] and line and not NEW_BLOCK.match(line) and not out[-1].lstrip().startswith(("|", "```"))
        )
        if goes_on and not is_code:
            out[-1] = f"{out[-1]} {line.lstrip()}"
        else:
            out.append(line)
        is_code = is_code != is_fence
    return "\n".join(out) + "\n"


def _time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def _turn(raw: Mapping[str, Any]) -> Turn:
    return Turn(by=raw["by"], at=_time(raw["at"]), text=unwrapped(raw["text"]), path=raw.get("path", ""))


def _bug(raw: Mapping[str, Any]) -> DemoBug:
    labels = raw["labels"]
    return DemoBug(
        round=raw["round"] or "",
        about=raw.get("about", ""),
        labels=labels,
        votes={rater: _vote(raw[rater], labels) for rater in RATERS if rater in raw},
        settled=tuple(
            Settlement(facet, how["by"], how.get("reason", ""), how.get("note", ""))
            for facet, how in raw.get("settled", {}).items()
        ),
    )


def _vote(raw: Mapping[str, str], labels: Mapping[str, str]) -> Vote:
    return Vote(
        answers={facet: raw.get(facet, labels[facet]) for facet in FACETS},
        not_a_bug=raw.get("not_a_bug", ""),
        confidence=raw.get("confidence", ""),
        why=raw.get("why", ""),
        cites=raw.get("cites", ""),
    )
