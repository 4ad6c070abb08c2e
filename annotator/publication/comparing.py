"""What is another in any release than in an earlier one: bugs, labels, answers, the codebook. From the files alone.

Answers are told per bug, round and facet, never whose: a release may name a rater whom the other hides.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from annotator.codebook.differing import Difference, differences
from annotator.codebook.reading import to_document
from annotator.publication.changes import Row, Source, changes_between, differing
from annotator.publication.files import File

MOST_LISTED = 1_000  # of bugs, and of answers; all are counted
ADDED, GONE, CHANGED, SAME = "added", "gone", "changed", "same"
CODEBOOK = "codebook.json"
Asked = tuple[str, str]  # number of the round, facet


def comparison(old: Source, new: Source) -> dict[str, Any]:
    """As `changes.json`, with bugs, answers and the codebook beside."""
    return {
        **changes_between(old, new, since=0),
        "bugs": Bugs().read(old, new).document(),
        "answers": Answers().read(old, new).document(),
        "codebook": codebook_between(old, new),
    }


@dataclass
class Bugs:
    """Those that came, are gone, or are described otherwise; by number."""

    counts: Counter[str] = field(default_factory=Counter)
    columns: Counter[str] = field(default_factory=Counter)  # of those that both releases have
    listed: list[dict[str, Any]] = field(default_factory=list)

    def read(self, old: Source, new: Source) -> "Bugs":
        for bug, was, now in differing(old, new, "bugs.csv"):
            if not was or not now:
                self.note(bug, (now or was)[0], ADDED if now else GONE, [])
            elif columns := changed_columns(was[0], now[0]):
                self.columns.update(columns)
                self.note(bug, now[0], CHANGED, columns)
        return self

    def note(self, bug: int, row: Row, change: str, columns: list[str]) -> None:
        self.counts[change] += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append({"bug": bug, **place_in(row), "change": change, "columns": columns})

    def document(self) -> dict[str, Any]:
        return {"counts": counted(self.counts), "columns": dict(self.columns), "listed": self.listed}


@dataclass
class Answers:
    """What the raters of a bug said to a facet in a round, all of them together."""

    counts: Counter[str] = field(default_factory=Counter)
    facets: Counter[str] = field(default_factory=Counter)  # of those that changed
    rounds: Counter[str] = field(default_factory=Counter)  # of those that came
    listed: list[dict[str, Any]] = field(default_factory=list)

    def read(self, old: Source, new: Source) -> "Answers":
        for bug, was, now in differing(old, new, "answers.csv"):
            before, after = by_question(was), by_question(now)
            for asked in sorted(before.keys() | after.keys(), key=lambda asked: (int(asked[0]), asked[1])):
                self.compare(bug, before.get(asked, []), after.get(asked, []))
        return self

    def compare(self, bug: int, was: list[Row], now: list[Row]) -> None:
        row = (now or was)[0]
        if was and now and uids(was) == uids(now):
            return
        change = CHANGED if was and now else ADDED if now else GONE
        self.counts[change] += 1
        if change == ADDED:
            self.rounds[row["round"]] += 1
            return
        self.facets[row["facet"]] += 1
        if len(self.listed) < MOST_LISTED:
            told = {"round": row["round"], "facet": row["facet"], "before": said(was), "after": said(now)}
            self.listed.append({"bug": bug, **place_in(row), **told})

    def document(self) -> dict[str, Any]:
        sums = {"counts": counted(self.counts), "facets": dict(self.facets), "rounds_added": dict(self.rounds)}
        return sums | {"listed": self.listed}


def changed_columns(was: Row, now: Row) -> list[str]:
    """Of those that both releases have: what one of them leaves out is no change of the bug."""
    return [name for name, value in now.items() if name in was and was[name] != value]


def by_question(rows: Iterable[Row]) -> dict[Asked, list[Row]]:
    found: dict[Asked, list[Row]] = {}
    for row in rows:
        found.setdefault((row["round_number"], row["facet"]), []).append(row)
    return found


def uids(rows: Iterable[Row]) -> Counter[str]:
    return Counter(row["category_uid"] for row in rows)


def said(rows: Iterable[Row]) -> list[str]:
    """In an order that tells nothing of who said it."""
    return sorted(row["category"] for row in rows)


def place_in(row: Row) -> dict[str, str]:
    return {"repository": row["repository"], "number": row["number"]}


def counted(counts: Counter[str]) -> dict[str, int]:
    return {change: counts[change] for change in (ADDED, GONE, CHANGED)}


# --- the codebook


def codebook_between(old: Source, new: Source) -> dict[str, Any]:
    """The latest published version in each, and what they differ in, in sentences."""
    (was, before), (now, after) = latest_version(old), latest_version(new)
    found = differences(to_document(before), to_document(after)) if before and after else []
    return {"since": was, "version": now, "entries": [entry_of(each) for each in found]}


def latest_version(source: Source) -> tuple[int | None, Any]:
    with source(CODEBOOK) as file:
        versions = json.loads(file.read())["versions"] if file else []
    return (versions[-1]["number"], versions[-1]["codebook"]) if versions else (None, None)


def entry_of(each: Difference) -> dict[str, Any]:
    words = [{"what": what, "was": was, "now": now} for what, was, now in each.words]
    return {"kind": each.kind, "facet": each.facet, "category": each.uid, "says": each.says, "words": words}


# --- files


def files_between(old: Iterable[File], new: Iterable[File]) -> list[dict[str, Any]]:
    """Each file of either, by path; `before` and `after` are its sizes, null where it is not there."""
    was, now = {file.path: file for file in old}, {file.path: file for file in new}
    return [file_between(path, was.get(path), now.get(path)) for path in sorted(was.keys() | now.keys())]


def file_between(path: str, was: File | None, now: File | None) -> dict[str, Any]:
    sizes = {"before": was and was.bytes, "after": now and now.bytes}
    if was is None or now is None:
        return {"path": path, "change": GONE if was else ADDED} | sizes
    return {"path": path, "change": SAME if was.sha256 == now.sha256 else CHANGED} | sizes
