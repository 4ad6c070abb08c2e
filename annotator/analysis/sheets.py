"""A table as programs, papers and figures take it: columns, rows, its n, and what was left out of it and why."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotator.analysis.asked import digest_of
from annotator.stats.reasons import FEW_EXPECTED, NO_OVERLAP, SET_VALUED, SINGLE_CATEGORY

TEXT, COUNT, SHARE, NUMBER, PROBABILITY, SECONDS = "text", "count", "share", "number", "probability", "seconds"
SAYS = {
    "in_dispute": "in dispute",
    "left_open": "left open by decision",
    "not_a_bug": "not a bug",
    "duplicate": "left as a duplicate",
    "withdrawn": "withdrawn",
    "not_labelled": "without such a label",
    "no_moment": "without a date",
    "no_repository": "of no repository",
    "not_timed": "without a measured time",
}
WHY = {
    FEW_EXPECTED: "many cells are expected to hold fewer than five bugs, so p is rough",
    SET_VALUED: "a bug may have several answers here, so its cells are not independent",
    SINGLE_CATEGORY: "one of the two has a single category",
    NO_OVERLAP: "no bug has a label in both",
}


@dataclass(frozen=True)
class Column:
    """`is_` says what its numbers are: shares in 0..1, seconds, counts of bugs, other numbers."""

    key: str
    title: str
    is_: str = TEXT


@dataclass(frozen=True)
class Test:
    """Whether two facets go together; a null with its reason where that cannot be told."""

    name: str
    n: int
    statistic: float | None = None
    degrees: int | None = None
    p: float | None = None
    size: float | None = None
    size_is: str = ""
    reason: str | None = None
    warning: str | None = None

    @property
    def why(self) -> str:
        """Its reason or warning in words."""
        code = self.reason or self.warning or ""
        return WHY.get(code, code)


@dataclass(frozen=True)
class Turn:
    """What other labels would change: ranks or signs that are not as under the ones shown."""

    labels: str
    n: int
    changed: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Sheet:
    """Rows are in the order of the table. `n` counts bugs; `left_out` says by reason how many are not among them."""

    kind: str
    title: str
    labels: str
    n: int
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    tests: tuple[Test, ...] = ()
    turns: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    unit: str = "bugs"
    is_many: bool = False

    def document(self) -> dict[str, Any]:
        found = asdict(self)
        found["columns"] = [{"key": c.key, "title": c.title, "is": c.is_} for c in self.columns]
        return found

    @property
    def digest(self) -> str:
        return digest_of(self.document())

    def column(self, key: str) -> list[Any]:
        place = [column.key for column in self.columns].index(key)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        """Rows by the columns' keys."""
        return [dict(zip((c.key for c in self.columns), row, strict=True)) for row in self.rows]

    @property
    def told(self) -> str:
        """n, and what was left out of it, in words."""
        parts = [f"{n:,} {SAYS[reason]}".replace(",", " ") for reason, n in self.left_out.items() if n]
        n = f"n = {self.n:,} {self.unit}".replace(",", " ")
        return f"{n}; left out: {', '.join(parts)}" if parts else n


def sheet_of(document: Mapping[str, Any]) -> Sheet:
    """As it was kept."""
    return Sheet(
        **{
            **document,
            "columns": tuple(Column(c["key"], c["title"], c["is"]) for c in document["columns"]),
            "rows": tuple(tuple(row) for row in document["rows"]),
            "tests": tuple(Test(**test) for test in document["tests"]),
            "turns": tuple(
                Turn(turn["labels"], turn["n"], tuple(tuple(c) for c in turn["changed"])) for turn in document["turns"]
            ),
            "notes": tuple(document["notes"]),
        }
    )


def ranks(counts: Sequence[int]) -> list[int]:
    """1 for the largest; equal counts share the best rank."""
    return [1 + sum(other > n for other in counts) for n in counts]
