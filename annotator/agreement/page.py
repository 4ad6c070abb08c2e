"""What the agreement pages show, read from the entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotator.agreement import charts, gating
from annotator.agreement.confused import Confused, confused
from annotator.agreement.entries import Entry
from annotator.agreement.numbers import percent
from annotator.agreement.queries import entries_by_round, entries_of
from annotator.agreement.scales import ANSWERED, TOP, version_of
from annotator.codebook.models import Category, Codebook, Facet
from annotator.labeling.models import Round
from annotator.stats.gates import PASSED
from annotator.stats.reasons import SENTENCES, SET_VALUED
from annotator.studies.models import Study

NOT_YET = "Agreement is counted when the round closes. Until then nobody sees it, whatever has been answered."
BLINDNESS = {
    "enforced": "blind, enforced here",
    "declared": "blind, as the sheet's owner declared",
    "unknown": "whether they were blind is unknown",
    "no": "not blind",
}
REASONS = {
    "not_a_bug_both": "not a bug, both",
    "not_a_bug_one": "not a bug, one",
    "skipped": "skipped",
    "unanswered": "not answered",
    "not_dealt": "dealt to others",
}
CHIPS = {"passed": ("good", "passed"), "failed": ("bad", ""), "not_computable": ("", "not computable")}


@dataclass(frozen=True)
class Row:
    """A facet of a pair in the round's table."""

    entry: Entry
    url: str
    is_current: bool

    @property
    def is_set_valued(self) -> bool:
        return "exact_match" in self.entry

    @property
    def value(self) -> float | None:
        """The coefficient that is drawn: kappa, or alpha where a bug has several answers."""
        found: float | None = self.entry["alpha_masi"] if self.is_set_valued else self.entry["kappa"]
        return found

    @property
    def bar(self) -> charts.Bar:
        gate = self.entry["gate"]
        return charts.bar(self.value, self.entry["ci"], gate=gate["bound"], is_filled=gate["result"] == PASSED)

    @property
    def chip(self) -> dict[str, str] | None:
        result = self.entry["gate"]["result"]
        if result is None:
            return None
        kind, text = CHIPS[result]
        return {"kind": kind, "text": text or gating.sentence(self.entry)}

    @property
    def notes(self) -> list[str]:
        found = []
        if self.entry["reason"]:
            found.append(gating.not_computable(self.entry, self.entry["reason"]))
        elif self.entry["gate"]["is_binomial"]:
            found.append(f"Nobody differed: the gate reads the {gating.sentence(self.entry)}.")
        if top := self.entry.get("dominant"):
            found.append(f"{top['category']} is {percent(top['share'])} of answers; κ is sensitive to this.")
        if "shared_codes" in self.entry["warnings"]:
            found.append("Not blind as to codes: the raters saw each other's as soon as they were proposed.")
        if "constant_rater" in self.entry["warnings"]:
            found.append("One rater gave a single category throughout.")
        elif why := self.entry.get("no_interval"):
            found.append(SENTENCES[why])
        return found


@dataclass(frozen=True)
class Cell:
    """A place of the confusion matrix."""

    count: int
    shade: str
    url: str
    described: str


@dataclass(frozen=True)
class MatrixRow:
    number: int
    name: str
    cells: tuple[Cell, ...]
    total: int


@dataclass(frozen=True)
class Matrix:
    heads: tuple[tuple[int, str], ...]
    rows: tuple[MatrixRow, ...]
    totals: tuple[int, ...]
    n: int
    unused: int


class Page:
    """One round of a study, one pair of its raters, one facet in detail."""

    def __init__(
        self,
        study: Study,
        rounds: Sequence[Round],
        *,
        chosen: Round | None,
        facet: str = "",
        pair: Sequence[str] = (),
        level: str = ANSWERED,
    ) -> None:
        self.study, self.rounds, self.round, self.level = study, rounds, chosen, level
        self._facet, self._pair = facet, tuple(pair)

    @cached_property
    def by_round(self) -> dict[int, list[Entry]]:
        found = entries_by_round(self.rounds, level=self.level)
        return {each.number: found[each.pk] for each in self.rounds if not each.is_open}

    @property
    def open_rounds(self) -> list[Round]:
        return [each for each in self.rounds if each.is_open]

    @cached_property
    def entries(self) -> list[Entry]:
        return self.by_round.get(self.round.number, []) if self.round else []

    @cached_property
    def compared(self) -> list[Entry]:
        return [entry for entry in self.entries if len(entry["raters"]) <= 2]

    @property
    def together(self) -> list[Entry]:
        """Three raters and more, facet by facet."""
        return [entry for entry in self.entries if len(entry["raters"]) > 2]

    @cached_property
    def pairs(self) -> list[tuple[str, ...]]:
        return list(dict.fromkeys(tuple(entry["raters"]) for entry in self.compared))

    @cached_property
    def pair(self) -> tuple[str, ...]:
        """The pair asked for, else the first; while the round is open, the first of the latest that is not."""
        if self._pair in self.pairs or (self.pairs and self.round and not self.round.is_open):
            return self._pair if self._pair in self.pairs else self.pairs[0]
        latest = self.by_round[max(self.by_round)] if self.by_round else []
        return next((tuple(entry["raters"]) for entry in latest if len(entry["raters"]) == 2), ())

    @cached_property
    def rows(self) -> list[Row]:
        mine = [entry for entry in self.compared if tuple(entry["raters"]) == self.pair]
        return [Row(entry, self._pair_url(entry["facet"], self.pair), entry["facet"] == self.facet) for entry in mine]

    @cached_property
    def facet(self) -> str:
        mine = [entry["facet"] for entry in self.compared if tuple(entry["raters"]) == self.pair]
        return self._facet if self._facet in mine else next(iter(mine), "")

    @cached_property
    def entry(self) -> Entry | None:
        return next((row.entry for row in self.rows if row.is_current), None)

    def _pair_url(self, facet: str, pair: Sequence[str]) -> str:
        if self.round is None or len(pair) != 2:
            return ""
        return self._at("pair", self.round.number, facet, *pair)

    def _at(self, name: str, *args: Any) -> str:
        """An address of this stage that stays at the chosen level."""
        return reverse(f"agreement:{name}", args=[self.study.slug, *args]) + query_of(self.level)

    # --- choosing

    @cached_property
    def level_links(self) -> list[dict[str, Any]]:
        """Where no facet has narrower categories there is nothing to choose."""
        return level_links(self.study, self.level, self.round)

    @property
    def round_links(self) -> list[dict[str, Any]]:
        return [
            {
                "name": each.name,
                "url": self._at("round", each.number),
                "is_current": self.round is not None and each.pk == self.round.pk,
            }
            for each in self.rounds
        ]

    @property
    def pair_links(self) -> list[dict[str, Any]]:
        return [
            {"name": " × ".join(pair), "url": self._pair_url(self.facet, pair), "is_current": pair == self.pair}
            for pair in self.pairs
            if len(pair) == 2
        ]

    # --- the gate, the trend, the matrix

    @cached_property
    def gate(self) -> gating.RoundGate | None:
        """It was fixed for the answers as they were given, at whatever level the page shows them."""
        return gating.of_round(self.round, self.answered) if self.round else None

    @property
    def answered(self) -> list[Entry]:
        return self.entries if self.level == ANSWERED or self.round is None else entries_of(self.round)

    @property
    def tables(self) -> dict[str, str]:
        """The round's table as a file, by its name."""
        number = self.round.number if self.round else 0
        return {"pooled": self._at("pooled"), "csv": self._at("csv", number), "latex": self._at("latex", number)}

    @property
    def blindness(self) -> str:
        return BLINDNESS[self.round.blindness] if self.round else ""

    @property
    def exclusions(self) -> list[dict[str, Any]]:
        """What was left out and why, facets with the same losses together."""
        alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for row in self.rows:
            lost = row.entry["excluded_by"]
            by_reason = tuple((REASONS[reason], lost[reason]) for reason in REASONS if lost.get(reason))
            if by_reason:
                alike.setdefault(by_reason, []).append(row.entry["facet_name"])
        return [
            {"facets": facets, "reasons": reasons, "total": sum(count for _, count in reasons)}
            for reasons, facets in alike.items()
        ]

    @cached_property
    def trends(self) -> list[charts.Trend]:
        """One small multiple a facet of the shown pair, the verdict left to the table."""
        names: dict[str, str] = {}
        for entries in self.by_round.values():
            names |= {entry["facet"]: entry["facet_name"] for entry in entries if entry["facet"] != "verdict"}
        closed = [each for each in self.rounds if not each.is_open]
        readings = {facet: [self._reading(each, facet) for each in closed] for facet in names}
        floor = charts.floor_of(reading for of_facet in readings.values() for reading in of_facet)
        return [self._trend(facet, name, readings[facet], floor=floor) for facet, name in names.items()]

    def _trend(self, facet: str, name: str, readings: list[charts.Reading], *, floor: float) -> charts.Trend:
        is_many = any(
            e["reason"] == SET_VALUED for entries in self.by_round.values() for e in entries if e["facet"] == facet
        )
        return charts.trend(
            f"{name}, α (MASI)" if is_many else name,
            readings,
            open_rounds=[label_of(each) for each in self.open_rounds],
            gate=self._bound,
            floor=floor,
            url=self._pair_url(facet, self.pair),
        )

    @property
    def _bound(self) -> float | None:
        """Of the chosen round's gate, else of the latest; asked of the answers as given alone."""
        bounded = [each for each in self.rounds if each.gate_coefficient and not each.is_open]
        if not bounded or self.round is None or self.level != ANSWERED:
            return None
        return (self.round if self.round in bounded else bounded[-1]).gate_bound

    def _reading(self, each: Round, facet: str) -> charts.Reading:
        for entry in self.by_round[each.number]:
            if entry["facet"] == facet and tuple(entry["raters"]) == self.pair:
                row = Row(entry, "", is_current=False)
                ci = tuple(entry["ci"]) if entry["ci"] else None
                is_reached = entry["gate"]["result"] == PASSED
                return charts.Reading(label_of(each), row.value, ci, is_reached)
        return charts.Reading(label_of(each), None)

    @property
    def categories(self) -> list[Entry]:
        """Those that anybody gave; the others have nothing to show."""
        return [row for row in self.entry["categories"] if any(row["votes"])] if self.entry else []

    @property
    def never_given(self) -> list[str]:
        return [row["category"] for row in self.entry["categories"] if not any(row["votes"])] if self.entry else []

    @cached_property
    def confused(self) -> list[Confused]:
        """Pairs for which a note is worth its while: of the answers as given, on which such notes can stand."""
        return confused(self.study, self.entry) if self.entry and self.level == ANSWERED else []

    @cached_property
    def matrix(self) -> Matrix | None:
        """The categories in use; the rest is only counted."""
        if self.round is None or self.entry is None or not self.entry.get("table"):
            return None
        table = self.entry["table"]
        counts, uids, names = table["counts"], table["uids"], table["categories"]
        used = [i for i in range(len(uids)) if any(counts[i]) or any(row[i] for row in counts)]
        most = max((count for row in counts for count in row), default=0)
        here = [self.round.number, self.facet, *self.pair]
        rows = tuple(
            MatrixRow(
                number=place,
                name=names[i],
                cells=tuple(
                    Cell(
                        count=counts[i][j],
                        shade=shade(counts[i][j], most=most, is_agreement=i == j),
                        url=self._at("cell", *here, uids[i], uids[j]) if counts[i][j] else "",
                        described=f"{counts[i][j]} bugs: {self.pair[0]} {names[i]}, {self.pair[1]} {names[j]}",
                    )
                    for j in used
                ),
                total=sum(counts[i]),
            )
            for place, i in enumerate(used, 1)
        )
        return Matrix(
            heads=tuple((place, names[i]) for place, i in enumerate(used, 1)),
            rows=rows,
            totals=tuple(sum(row[i] for row in counts) for i in used),
            n=self.entry["n"],
            unused=len(uids) - len(used),
        )


def query_of(level: str) -> str:
    return "" if level == ANSWERED else f"?level={level}"


def level_links(study: Study, level: str, round_: Round | None = None) -> list[dict[str, Any]]:
    """The answers as given; by the categories at the top where some stand below others; mapped to the present version
    where the codebook has changed since. Nothing where there is but one way."""
    narrower = Category.objects.filter(facet__codebook=OuterRef("pk"), parent__isnull=False)
    below = Exists(narrower.exclude(facet__key=Facet.VERDICT))
    books = Codebook.objects.filter(study=study).annotate(is_deep=below)
    present, is_deep = books.values_list("number", "is_deep").first() or (0, False)
    found = {ANSWERED: "As answered"} | ({TOP: "Top level"} if is_deep else {})
    then = round_.codebook_version.number if round_ and round_.codebook_version else 1
    for number in sorted({present, version_of(level) or present}):
        if number > then or f"v{number}" == level:
            found[f"v{number}"] = f"Mapped to v{number}"
    links = [{"name": name, "url": query_of(each) or "?", "is_current": each == level} for each, name in found.items()]
    return links if len(links) > 1 else []


def shade(count: int, *, most: int, is_agreement: bool) -> str:
    """Agreement in five steps of blue, disagreement in two of red."""
    if count == 0:
        return "h0"
    if not is_agreement:
        return "e1" if count == 1 else "e2"
    return f"h{max(1, min(5, -(-count * 5 // most)))} dg"


def label_of(round_: Round) -> str:
    """A short name under the axis: Pilot, 1, 2, …"""
    name = round_.name.removeprefix("Round ").strip()
    return name if len(name) <= 8 else str(round_.number)
