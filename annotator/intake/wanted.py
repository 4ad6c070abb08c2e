"""A mapping laid on a sheet and a study: which cell of a row means what."""

from dataclasses import dataclass, field
from typing import Any

from annotator.intake.cleaning import Cleaner, Reader
from annotator.intake.mapping import Mapping, RaterColumns, divider
from annotator.intake.mapping_parts import Source
from annotator.intake.matching import Cell, locate
from annotator.intake.outcomes import OutcomeCells
from annotator.intake.people import People
from annotator.intake.plans import Known, KnownFacet, Plan, PlannedPerson
from annotator.intake.sheets import Sheet
from annotator.web.errors import BadInput


@dataclass(frozen=True, slots=True)
class FacetCell:
    reader: Reader
    facet: int
    key: str
    cell: Cell
    reasons: dict[str, str] = field(default_factory=dict)  # why not a bug: cleaned cell to uid


@dataclass(frozen=True, slots=True)
class RaterCells:
    """The places of one rater's answers; without a person the row's own cell names them."""

    person: PlannedPerson | None
    facets: tuple[FacetCell, ...]
    note: Cell
    confidence: Cell


@dataclass(frozen=True, slots=True)
class VoteCells:
    person: PlannedPerson
    include: Cell
    reason: Cell
    when: frozenset[str]


@dataclass(slots=True)
class Wanted:
    """Every place that the mapping names, resolved."""

    round: Cell
    rater: Cell
    raters: list[RaterCells] = field(default_factory=list)
    final: list[FacetCell] = field(default_factory=list)
    votes: list[VoteCells] = field(default_factory=list)
    outcome: OutcomeCells | None = None
    context: list[tuple[str, Cell]] = field(default_factory=list)
    readers: dict[int, Reader] = field(default_factory=dict)

    @property
    def labels(self) -> list[Cell]:
        """The cells that make a row more than a footer."""
        cells = [each.cell for rater in self.raters for each in rater.facets]
        cells += [*(each.cell for each in self.final), *(vote.include for vote in self.votes)]
        return [*cells, self.outcome.include] if self.outcome else cells


def refuse_unknown_columns(sheet: Sheet, mapping: Mapping) -> None:
    """One sentence on the first place of the mapping that names no column, and how many more there are."""
    problems = []
    for path, source in mapping.sources():
        try:
            locate(sheet, source)
        except BadInput as problem:
            problems.append(f"{path}: {problem}")
    if problems:
        more = f" {len(problems) - 1} more places of the mapping do not fit the sheet." if len(problems) > 1 else ""
        raise BadInput(f"{problems[0]}{more}")


class Resolver:
    """Lays a mapping on a sheet; a facet or column that isn't there is bad input."""

    def __init__(self, *, sheet: Sheet, mapping: Mapping, known: Known, plan: Plan, people: People) -> None:
        self.sheet, self.mapping, self.known, self.plan, self.people = sheet, mapping, known, plan, people
        self.cleaner = Cleaner(mapping.clean)
        self.readers: dict[int, Reader] = {}

    def resolve(self) -> Wanted:
        mapping, sheet = self.mapping, self.sheet
        for word in (*mapping.clean.aliases, *mapping.clean.split) if mapping.has_labels else ():
            self.facet(word, "clean")
        raters = [self.rater_cells(columns, name) for name, columns in mapping.raters.items()]
        return Wanted(
            round=locate(sheet, mapping.round),
            rater=locate(sheet, mapping.rater),
            raters=[*raters, *([self.rater_cells(mapping.answers, None)] if mapping.answers else [])],
            final=[self.facet_cell(word, source, "final") for word, source in mapping.final.items()],
            votes=[self.vote_cells(name) for name in mapping.votes],
            outcome=self.outcome_cells(),
            context=[(name, locate(sheet, source)) for name, source in mapping.context.items()],
            readers=self.readers,
        )

    def facet(self, word: str, path: str) -> KnownFacet:
        """By id, else by id or name in any case."""
        folded = " ".join(word.casefold().split())
        exact = [facet for facet in self.known.facets if facet.key == word]
        loose = [f for f in self.known.facets if folded in (f.key.casefold(), " ".join(f.name.casefold().split()))]
        for facet in (*exact, *loose):
            return facet
        names = ", ".join(facet.key for facet in self.known.facets) or "none: give it a codebook first"
        raise BadInput(f"{path}: the study has no facet “{word}”; it has {names}.")

    def reader(self, facet: KnownFacet) -> Reader:
        if facet.id not in self.readers:
            self.readers[facet.id] = self.new_reader(facet)
        return self.readers[facet.id]

    def new_reader(self, facet: KnownFacet) -> Reader:
        clean = self.mapping.clean
        split = self.of_facet(clean.split, facet)
        reader = Reader(
            facet=facet.name or facet.key,
            is_many=facet.is_many,
            choices=facet.choices,
            cleaner=self.cleaner,
            aliases=self.of_facet(clean.aliases, facet) or {},
            split=divider(split) if split else None,
            may_add=clean.unknown == "add" and not facet.is_verdict,
        )
        for problem in reader.problems:
            self.plan.fail(None, f"clean.aliases.{facet.key}", problem.code, problem.text)
        return reader

    def of_facet(self, values: dict[str, Any], facet: KnownFacet) -> Any:
        return next((value for word, value in values.items() if self.facet(word, "clean").id == facet.id), None)

    def facet_cell(self, word: str, source: Source, path: str) -> FacetCell:
        facet = self.facet(word, path)
        self.plan.facet_keys[facet.id] = facet.key
        cell = locate(self.sheet, source, f"{path}.{word}")
        reasons = {self.cleaner.key(name): uid for name, uid in facet.reasons.items()}
        return FacetCell(self.reader(facet), facet.id, facet.key, cell, reasons)

    def rater_cells(self, columns: RaterColumns, name: str | None) -> RaterCells:
        path = "answers" if name is None else f"raters.{name}"
        return RaterCells(
            person=None if name is None else self.people.of(name, column=path),
            facets=tuple(self.facet_cell(word, source, path) for word, source in columns.facets.items()),
            note=locate(self.sheet, columns.note),
            confidence=locate(self.sheet, columns.confidence),
        )

    def outcome_cells(self) -> OutcomeCells | None:
        columns = self.mapping.outcome
        if columns is None:
            return None
        return OutcomeCells(
            include=locate(self.sheet, columns.include),
            reason=locate(self.sheet, columns.reason),
            when=frozenset(map(self.cleaner.key, columns.when)),
            drops_others=columns.others == "drop",
            because=columns.because,
        )

    def vote_cells(self, name: str) -> VoteCells:
        columns = self.mapping.votes[name]
        return VoteCells(
            person=self.people.of(name, column=f"votes.{name}"),
            include=locate(self.sheet, columns.include),
            reason=locate(self.sheet, columns.reason),
            when=frozenset(map(self.cleaner.key, columns.when)),
        )
