"""From a sheet and a mapping to a plan: a dry run, which stores nothing and knows everything."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from annotator.codebook.reading import MAX_CATEGORIES
from annotator.intake.cleaning import Cleaner, is_blank, shorten
from annotator.intake.labels import LabelReader
from annotator.intake.mapping import DEFAULT_ROUND, Mapping
from annotator.intake.matching import Located, Matcher, locate
from annotator.intake.outcomes import OutcomeReader
from annotator.intake.people import People
from annotator.intake.plans import Known, Plan, PlannedBug, PlannedPerson, PlannedRound
from annotator.intake.sheets import Row, Sheet
from annotator.intake.wanted import Resolver, refuse_unknown_columns
from annotator.web.errors import BadInput

BLINDNESS = {"yes": "declared", "no": "no", "unknown": "unknown"}
LONGEST_ROUND_NAME = 120
EVERY = 500
Progress = Callable[[int], None]


def make_plan(*, sheet: Sheet, mapping: Mapping, known: Known, progress: Progress | None = None) -> Plan:
    """Everything that the sheet would bring. BadInput where the mapping does not fit sheet or study."""
    refuse_unknown_columns(sheet, mapping)
    if not sheet.rows:
        raise BadInput("The sheet has no rows below its header.")
    with without_collecting():
        return Planner(sheet, mapping, known).run(progress or (lambda rows: None))


@contextmanager
def without_collecting() -> Iterator[None]:
    """Hundreds of thousands of small objects that all stay: looking for garbage among them costs a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Planner:
    """One run over the sheet."""

    def __init__(self, sheet: Sheet, mapping: Mapping, known: Known) -> None:
        self.sheet, self.mapping, self.known = sheet, mapping, known
        self.plan = Plan(blindness=BLINDNESS[mapping.blind])
        self.people = People(known, self.plan)
        self.rounds: dict[str, PlannedRound] = {}
        resolver = Resolver(sheet=sheet, mapping=mapping, known=known, plan=self.plan, people=self.people)
        self.wanted = resolver.resolve()
        outcome = self.wanted.outcome
        self.outcomes = OutcomeReader(outcome, Cleaner(mapping.clean), known, self.plan) if outcome else None
        self.labels = LabelReader(self.wanted, Cleaner(mapping.clean), known, self.plan, self.people)

    def run(self, progress: Progress) -> Plan:
        self.note_remarks()
        located = self.match()
        for count, found in enumerate(located, 1):
            self.read_row(found)
            if count % EVERY == 0:
                progress(count)
        self.drop_known_contexts()
        if self.outcomes:
            self.outcomes.finish()
        for facet, reader in self.wanted.readers.items():
            if reader.added:
                self.plan.new_categories[facet] = list(reader.added.values())
            if reader.missing:
                self.plan.unknown_labels[facet] = list(reader.missing)
        self.refuse_too_many_categories()
        self.plan.errors.sort(key=lambda remark: remark.row or 0)
        self.plan.warnings.sort(key=lambda remark: remark.row or 0)
        return self.plan

    def refuse_too_many_categories(self) -> None:
        known = sum(len(facet.choices) for facet in self.known.facets)
        new = sum(map(len, self.plan.new_categories.values()))
        if new and known + new > MAX_CATEGORIES:
            text = (
                f"{new:,} new categories would come to more than {MAX_CATEGORIES:,}: a column of free text is no facet."
            )
            self.plan.fail(None, "clean.unknown", "too_many_categories", text)

    def match(self) -> list[Located]:
        beside = [locate(self.sheet, source) for path, source in self.mapping.sources() if path.startswith("item.")]
        others = [*beside, *(cell for _, cell in self.wanted.context)]
        located = Matcher(self.sheet, self.mapping, self.known, self.plan).match(self.wanted.labels, others)
        if not located and not self.plan.errors:
            why = next((remark.text for remark in self.plan.warnings if remark.code == "row_skipped"), "")
            raise BadInput(f"No row of the sheet names an item. {why}".strip())
        return located

    def note_remarks(self) -> None:
        """What the sheet itself says, and cells that no database can hold."""
        self.plan.warnings.extend(self.sheet.remarks)
        cells = [locate(self.sheet, source) for _, source in self.mapping.sources()] if self.sheet.flaws else []
        used = {cell.place: cell.column for cell in cells}
        for row, place in self.sheet.flaws:
            if place in used:
                text = "The cell holds a NUL character or half a character: delete it."
                self.plan.fail(row, used[place], "unstorable", text)

    def read_row(self, found: Located) -> None:
        bug, row = found.bug, found.row
        if bug is not None:
            if self.wanted.raters or self.wanted.final:
                self.read_labels(row, bug)
            self.read_context(row, bug)
        elif self.wanted.context:
            self.read_context(row, PlannedBug(found.item, 1, row.number))
        if self.wanted.votes or self.outcomes:
            if screening := self.known.screened_here.get(found.item.id or 0):
                text = f"{found.item.identity.said} is read here, in the screening “{screening}”, and takes nothing of a sheet."
                self.plan.fail(row.number, "", "screened_here", text)
                return
            for vote in self.wanted.votes:
                self.plan.candidates[found.item] = None
                self.labels.read_vote(row, found.item, vote)
            if self.outcomes:
                self.outcomes.read(row, found.item)

    def read_labels(self, row: Row, bug: PlannedBug) -> None:
        round_ = self.round_of(row)
        if self.wanted.raters:
            self.plan.round_bugs[round_, bug] = None
            self.plan.final_rounds.setdefault(bug, round_)
        for rater in self.wanted.raters:
            person = rater.person or self.named_rater(row, bug)
            if person:
                self.labels.read_turn(row, bug, round_, person, rater)
        for wanted in self.wanted.final:
            self.labels.read_final(row, bug, wanted)

    def named_rater(self, row: Row, bug: PlannedBug) -> PlannedPerson | None:
        """In the long form: whom the row's own cell names."""
        name = self.wanted.rater.of(row)
        if not is_blank(name):
            return self.people.of(name, row=row.number, column=self.wanted.rater.column)
        if any(not is_blank(each.cell.of(row)) for rater in self.wanted.raters for each in rater.facets):
            text = f"The row answers for {bug.said} but names no rater."
            self.plan.fail(row.number, self.wanted.rater.column, "unknown_rater", text)
        return None

    def round_of(self, row: Row) -> PlannedRound:
        name = self.wanted.round.of(row).strip() or DEFAULT_ROUND
        if name not in self.rounds:
            self.rounds[name] = self.new_round(name)
        return self.rounds[name]

    def new_round(self, name: str) -> PlannedRound:
        if len(name) > LONGEST_ROUND_NAME:
            raise BadInput(f"The round's name “{shorten(name)}” is longer than {LONGEST_ROUND_NAME} characters.")
        known = self.known.rounds.get(name) if self.wanted.raters else None
        if known and not known.is_imported:
            raise BadInput(
                f"The round “{name}” is labelled here ({known.state}) and takes no sheet: give its answers another round."
            )
        if known and known.blindness != self.plan.blindness:
            said = next(key for key, value in BLINDNESS.items() if value == known.blindness)
            raise BadInput(
                f"The round “{name}” was imported with “blind: {said}”: say the same, or name another round."
            )
        round_ = PlannedRound(name, known.id if known else None)
        if self.wanted.raters:
            self.plan.rounds.append(round_)
        return round_

    # --- context

    def read_context(self, row: Row, bug: PlannedBug) -> None:
        if not self.wanted.context:
            return
        values = self.plan.contexts.setdefault((bug.item, bug.ordinal), {})
        for name, cell in self.wanted.context:
            text = cell.of(row)
            if is_blank(text):
                continue
            if values.setdefault(name, text) != text:
                self.plan.warn(
                    row.number,
                    cell.column,
                    "context_differs",
                    f"{bug.said} has another “{name}” in an earlier row, which stays.",
                )

    def drop_known_contexts(self) -> None:
        """What is stored stays; only new names are added to it."""
        for (item, ordinal), values in list(self.plan.contexts.items()):
            _, stored = self.known.contexts.get((item.id or 0, ordinal), (0, {}))
            different = [name for name in values if name in stored and stored[name] != values[name]]
            for name in different:
                text = f"{item.identity.said} has another “{name}” in the study, which stays."
                self.plan.warn(None, self.mapping_column(name), "context_differs", text)
            if all(name in stored for name in values):
                del self.plan.contexts[item, ordinal]

    def mapping_column(self, name: str) -> str:
        return next(cell.column for wanted, cell in self.wanted.context if wanted == name)
