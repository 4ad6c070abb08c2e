"""What is another since an earlier release: bugs, labels with their causes, names of categories. From the files alone."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby
from typing import IO, Any

from annotator.publication.files import File
from annotator.publication.keeping import opened

Row = dict[str, str]
Source = Callable[[str], AbstractContextManager[IO[bytes] | None]]  # a path to its opened file; None: there is none
MOST_LISTED = 10_000  # labels; all are counted


def in_storage(files: Iterable[File]) -> Source:
    hashes = {file.path: file.sha256 for file in files}
    return lambda path: opened(hashes[path]) if path in hashes else nullcontext()


def changes_between(old: Source, new: Source, *, since: int) -> dict[str, Any]:
    """`labels` lists the first of them, `counts` counts all."""
    before, after = bugs_in(old), bugs_in(new)
    names: dict[str, dict[str, str]] = {}
    labels: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    for bug, was, now in side_by_side(old, new):
        note_names(names, was, now)
        if bug not in before or bug not in after:
            continue
        for change in changed_labels(was, now):
            counts[change["facet"]] += 1
            if len(labels) < MOST_LISTED:
                labels.append({"bug": bug} | change)
    return {
        "since": since,
        "bugs_added": sum(bug not in before for bug in after),
        "bugs_gone": sum(bug not in after for bug in before),
        "bugs_left": sorted(bug for bug, left in after.items() if left and bug in before and not before[bug]),
        "counts": dict(counts),
        "labels": labels,
        "names": list(names.values()),
    }


def rows_in(source: Source, path: str) -> Iterator[Row]:
    with source(path) as file:
        if file is not None:
            yield from csv.DictReader(io.TextIOWrapper(file, "utf-8", newline=""))


def bugs_in(source: Source) -> dict[int, str]:
    """Number to why it left; empty while it is studied."""
    return {int(row["bug"]): row["left"] for row in rows_in(source, "bugs.csv")}


def side_by_side(old: Source, new: Source) -> Iterator[tuple[int, list[Row], list[Row]]]:
    """Each bug's final labels then and now: both files are sorted by bug."""
    one, other = (groupby(rows_in(source, "finals.csv"), key=lambda row: int(row["bug"])) for source in (old, new))
    was, now = _next(one), _next(other)
    while was or now:
        bug = min(pair[0] for pair in (was, now) if pair)
        yield bug, was[1] if was and was[0] == bug else [], now[1] if now and now[0] == bug else []
        was = _next(one) if was and was[0] == bug else was
        now = _next(other) if now and now[0] == bug else now


def _next(groups: Iterator[Any]) -> tuple[int, list[Row]] | None:
    found = next(groups, None)
    return None if found is None else (found[0], list(found[1]))


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
