"""What is another since an earlier release: bugs, labels with their causes, names of categories. From the files alone."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby
from operator import itemgetter
from typing import IO, Any, NamedTuple

from annotator.publication.files import File
from annotator.publication.keeping import opened
from annotator.publication.recompute import records_in

Row = dict[str, str]
Source = Callable[[str], AbstractContextManager[IO[bytes] | None]]  # a path to its opened file; None: there is none
MOST_LISTED = 10_000  # labels; all are counted


def in_storage(files: Iterable[File]) -> Source:
    hashes = {file.path: file.sha256 for file in files}
    return lambda path: opened(hashes[path]) if path in hashes else nullcontext()


def changes_between(old: Source, new: Source, *, since: int) -> dict[str, Any]:
    """`labels` lists the first of them, `counts` counts all."""
    added, gone, left = bugs_between(old, new)
    names: dict[str, dict[str, str]] = {}
    labels: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    for bug, was, now in differing(old, new, "finals.csv"):
        note_names(names, was, now)
        if bug in added or bug in gone:
            continue
        for change in changed_labels(was, now):
            counts[change["facet"]] += 1
            if len(labels) < MOST_LISTED:
                labels.append({"bug": bug} | change)
    return {
        "since": since,
        "bugs_added": len(added),
        "bugs_gone": len(gone),
        "bugs_left": left,
        "counts": dict(counts),
        "labels": labels,
        "names": list(names.values()),
    }


def bugs_between(old: Source, new: Source) -> tuple[set[int], set[int], list[int]]:
    """Those that came, those that are gone, and those that left the study meanwhile."""
    added, gone, left = set(), set(), []
    for bug, was, now in differing(old, new, "bugs.csv"):
        if not was:
            added.add(bug)
        elif not now:
            gone.add(bug)
        elif now[0]["left"] and not was[0]["left"]:
            left.append(bug)
    return added, gone, left


def differing(old: Source, new: Source, path: str) -> Iterator[tuple[int, list[Row], list[Row]]]:
    """Bugs whose rows in a table are others now, with both: the files are sorted by bug, and read side by side."""
    one, other = by_bug(old, path), by_bug(new, path)
    was, now = next(one, None), next(other, None)
    while was or now:
        bug = min(each.bug for each in (was, now) if each)
        before = was if was and was.bug == bug else None
        after = now if now and now.bug == bug else None
        if before != after:
            yield bug, before.rows() if before else [], after.rows() if after else []
        was = next(one, None) if before else was
        now = next(other, None) if after else now


class OfBug(NamedTuple):
    """A bug's rows in a table, as they stand there."""

    bug: int
    names: list[str]
    cells: list[list[str]]

    def rows(self) -> list[Row]:
        return [dict(zip(self.names, each, strict=True)) for each in self.cells]


def by_bug(source: Source, path: str) -> Iterator[OfBug]:
    with source(path) as file:
        if file is None:
            return
        records = records_in(io.TextIOWrapper(file, "utf-8", newline=""))
        names = next(records)
        for number, cells in groupby(records, key=itemgetter(names.index("bug"))):
            yield OfBug(int(number), names, list(cells))


def changed_labels(was: list[Row], now: list[Row]) -> Iterator[dict[str, Any]]:
    facets = dict.fromkeys(row["facet"] for row in (*was, *now))
    for facet in facets:
        before, after = ([row for row in rows if row["facet"] == facet] for rows in (was, now))
        if uids(before) != uids(after):
            place = (after or before)[0]
            yield {
                "repository": place["repository"],
                "number": place["number"],
                "facet": facet,
                "before": names_of(before),
                "after": names_of(after),
                "cause": cause_of(after),
            }


def uids(rows: list[Row]) -> frozenset[str]:
    return frozenset(row["category_uid"] for row in rows) - {""}


def names_of(rows: list[Row]) -> list[str]:
    return [row["category"] for row in rows if row["category_uid"]]


def cause_of(rows: list[Row]) -> str:
    """As the new label says it."""
    if not rows:
        return "no label any more"
    row = rows[0]
    said = [
        row["source"],
        f"by {row['decided_by']}" if row["decided_by"] else "",
        f"in {row['round']}" if row["round"] else "",
    ]
    told = " ".join(filter(None, said)) + (f" ({row['reason'].replace('_', ' ')})" if row["reason"] else "")
    return f"{told}: {row['note']}" if row["note"] else told


def note_names(names: dict[str, dict[str, str]], was: list[Row], now: list[Row]) -> None:
    """A category that kept its uid and is called otherwise."""
    called: Mapping[str, str] = {row["category_uid"]: row["category"] for row in was}
    for row in now:
        uid, name = row["category_uid"], row["category"]
        if uid and called.get(uid, name) != name:
            names[uid] = {"uid": uid, "facet": row["facet"], "before": called[uid], "after": name}
