"""The columns of the exports: their names, kinds and meaning. docs/export.md says the same at more length."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

CONTEXT = "context: "  # before the name of a column that a sheet brought
TEXT, WHOLE, NUMBER, YES_NO, TIME = "text", "whole", "number", "yes_no", "time"
Value = str | int | float | bool | None  # a time is text: 2026-04-12T10:42:00.000000Z
Row = tuple[Value, ...]


@dataclass(frozen=True)
class Column:
    """One column. Text is never null: what is not there is empty. `people`: it holds user names."""

    name: str
    kind: str
    says: str
    people: bool = False


@dataclass(frozen=True)
class Cells:
    """A column of a batch: a code for each row, and what each code says.

    What repeats is thus made once. Columns that say different things of one key have the very same list of codes.
    """

    codes: list[Any]
    says: Mapping[Any, Value]

    def values(self) -> list[Value]:
        return list(map(self.says.__getitem__, self.codes))

    def used(self) -> Collection[Hashable]:
        """The codes, each once, and perhaps some that no row has."""
        return self.says if len(self.says) * 2 < len(self.codes) else set(self.codes)

    def written(self, write: Callable[[Any], Value]) -> "Cells":
        return replace(self, says={code: write(self.says[code]) for code in self.used()})


Batch = list[Cells]  # a column each, all of one length


@dataclass(frozen=True)
class Table:
    """Columns, given in batches of rows so that no export holds a study in memory."""

    name: str
    columns: tuple[Column, ...]
    batches: Iterable[Batch]

    def place(self, name: str) -> int:
        return place(self.columns, name)

    def rows(self) -> Iterator[Row]:
        for batch in self.batches:
            yield from zip(*(cells.values() for cells in batch), strict=True)


def place(columns: tuple[Column, ...], name: str) -> int:
    return next(place for place, column in enumerate(columns) if column.name == name)


WHICH_BUG = (
    Column("bug", WHOLE, "number of the bug in the study"),
    Column("repository", TEXT, "what the study calls the repository"),
    Column("number", WHOLE, "number of the pull request or issue there"),
    Column("ordinal", WHOLE, "1 for the first bug of the item, 2 for the next"),
)
CATEGORY = (
    Column("category", TEXT, "name of the category"),
    Column("category_uid", TEXT, "its permanent id, which outlives a renaming"),
)
ANSWERS = (
    *WHICH_BUG,
    Column("round", TEXT, "name of the round"),
    Column("round_number", WHOLE, "its number in the study"),
    Column("round_kind", TEXT, "training, main, relabel, retest or audit"),
    Column("blindness", TEXT, "enforced here, or as the sheet's owner declared: declared, unknown, no"),
    Column("rater", TEXT, "user name of the rater", people=True),
    Column("facet", TEXT, "id of the facet"),
    Column("slot", WHOLE, "0; counts on where a facet takes several answers"),
    *CATEGORY,
    Column("cell", TEXT, "the cell as it stood in the imported sheet"),
    Column(
        "codebook_version", WHOLE, "number of the codebook's version under which the answer was given; 0: not known"
    ),
    Column("answered_at", TIME, "when this answer was given"),
    Column("revision", WHOLE, "how often the rater had submitted the bug by then"),
    Column("confidence", TEXT, "sure, fairly or unsure; empty where not given"),
    Column("note", TEXT, "the rater's rationale"),
    Column("not_a_bug_reason", TEXT, "why the rater said that it is not a bug"),
    Column("active_seconds", WHOLE, "time that the rater spent on the bug's page"),
    Column("is_assisted", YES_NO, "a suggestion was shown"),
)
FINALS = (
    *WHICH_BUG,
    Column("facet", TEXT, "id of the facet"),
    Column("slot", WHOLE, "0; counts on where a facet takes several labels"),
    *CATEGORY,
    Column("source", TEXT, "unanimous, majority, discussed, adjudicated, single, joint, derived, imported, unresolved"),
    Column("round", TEXT, "round that the label comes from; empty where a sheet gave it alone"),
    Column("decided_by", TEXT, "user name of the adjudicator", people=True),
    Column("participants", TEXT, "user names of who took part, with a blank between", people=True),
    Column("recorded_by", TEXT, "user name of who wrote down what the others who took part said", people=True),
    Column("reason", TEXT, "coded reason of an adjudication"),
    Column("note", TEXT, "what the decision's author wrote"),
    Column("cell", TEXT, "the cell as it stood in the imported sheet"),
    Column("decided_at", TIME, "when the label was settled"),
)
HISTORY = (
    *WHICH_BUG,
    Column("at", TIME, "when it happened"),
    Column("by", TEXT, "user name of who did it; empty where the rules did", people=True),
    Column("act", TEXT, "answered, changed, kept, accepted, proposed or decided"),
    Column("round", TEXT, "name of the round"),
    Column("facet", TEXT, "id of the facet"),
    Column("slot", WHOLE, "0; counts on where a facet takes several answers"),
    *CATEGORY,
    Column("revision", WHOLE, "of an answer: how often the rater had submitted the bug by then"),
    Column("source", TEXT, "of a decision: as in the table of final labels"),
    Column("reason", TEXT, "coded reason of an adjudication"),
    Column("note", TEXT, "what the author of the act wrote"),
    Column("participants", TEXT, "user names of who took part, with a blank between", people=True),
    Column("recorded_by", TEXT, "user name of who wrote down what the others who took part said", people=True),
    Column("is_current", YES_NO, "it still stands"),
)
BUGS = (
    Column("bug", WHOLE, "number of the bug in the study"),
    Column("kind", TEXT, "pull_request, issue or other"),
    Column("repository", TEXT, "what the study calls the repository"),
    Column("number", WHOLE, "number of the pull request or issue there"),
    Column("key", TEXT, "what identifies an item that has no such number"),
    Column("ordinal", WHOLE, "1 for the first bug of the item, 2 for the next"),
    Column("url", TEXT, "address of the item"),
    Column("title", TEXT, "its title"),
    Column("state", TEXT, "its state when the copy was taken"),
    Column("author", TEXT, "its author on the platform it comes from"),
    Column("opened_at", TIME, "when it was opened"),
    Column("closed_at", TIME, "when it was closed"),
    Column("merged_at", TIME, "when it was merged"),
    Column("left", TEXT, "why it is no longer studied: duplicate, withdrawn or not_a_bug; empty: it is"),
    Column("left_note", TEXT, "what the lead wrote about that"),
    Column("body", TEXT, "its description as written"),
)
SIDE_BY_SIDE = (
    *(
        column
        for column in BUGS
        if column.name in ("bug", "kind", "repository", "number", "key", "ordinal", "url", "title")
    ),
    Column("round", TEXT, "the round whose answers stand here: the bug's latest that counts; empty where it has none"),
)
