"""Pairs of categories that two raters took for one another, and whether the codebook says how to tell them apart."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotator.agreement.entries import Entry
from annotator.codebook.models import Category, TellApart
from annotator.studies.models import Study

FEWEST = 2  # bugs
SHARE = 0.1  # of all that either rater gave to either of them
MOST = 5


@dataclass(frozen=True)
class Confused:
    """How often the raters stood at different ones of two categories that are both in use."""

    facet: str
    first: str  # uid
    second: str
    names: tuple[str, str]
    bugs: int
    note: str  # what the codebook says; empty: nothing


def confused(study: Study, entry: Entry) -> list[Confused]:
    """The most frequent first. What is no longer in use needs no note."""
    table = entry.get("table")
    if not table:
        return []
    uids, counts = table["uids"], table["counts"]
    found: list[tuple[int, str, str]] = []
    for i in range(len(uids)):
        for j in range(i):
            bugs = counts[i][j] + counts[j][i]
            if bugs >= FEWEST and bugs >= SHARE * (bugs + counts[i][i] + counts[j][j]):
                found.append((bugs, uids[j], uids[i]))
    found.sort(key=lambda each: -each[0])
    return list(_with_notes(study, entry["facet"], found[:MOST]))


def _with_notes(study: Study, facet: str, pairs: list[tuple[int, str, str]]) -> Iterable[Confused]:
    wanted = {uid for _, *both in pairs for uid in both}
    rows = Category.objects.filter(facet__codebook__study=study, facet__key=facet, uid__in=wanted)
    names = dict(rows.filter(state=Category.State.ACTIVE).values_list("uid", "name"))
    listed = TellApart.objects.in_use().filter(first__uid__in=wanted, second__uid__in=wanted) if wanted else []
    notes = {frozenset((note.first.uid, note.second.uid)): note.text for note in listed}
    for bugs, first, second in pairs:
        if first in names and second in names:
            note = notes.get(frozenset((first, second)), "")
            yield Confused(facet, first, second, (names[first], names[second]), bugs, note)
