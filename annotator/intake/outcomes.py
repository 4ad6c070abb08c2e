"""What a sheet says became of candidates: read into the plan, beside or after their votes."""

from dataclasses import dataclass

from annotator.intake.cleaning import Cleaner, is_blank
from annotator.intake.matching import Cell
from annotator.intake.plans import Known, Plan, PlannedItem, PlannedOutcome
from annotator.intake.sheets import Row

INCLUDE, EXCLUDE = "include", "exclude"
IMPORTED, DROPPED = "imported", "dropped"
NOT_THERE = "In no row of the imported sheet."


@dataclass(frozen=True, slots=True)
class OutcomeCells:
    """The places of the decision and its reason; `drops_others`: what is in and in no row was dropped later."""

    include: Cell
    reason: Cell
    when: frozenset[str]
    drops_others: bool
    because: str


class OutcomeReader:
    """Fills the plan's outcomes. What stands so already is left, what people decided otherwise is an error."""

    def __init__(self, cells: OutcomeCells, cleaner: Cleaner, known: Known, plan: Plan) -> None:
        self.cells, self.cleaner, self.known, self.plan = cells, cleaner, known, plan
        self.said: dict[PlannedItem, tuple[str, int]] = {}

    def read(self, row: Row, item: PlannedItem) -> None:
        text = self.cells.include.of(row)
        if self.cleaner.is_blank(text):
            return
        decision = INCLUDE if self.cleaner.key(text) in self.cells.when else EXCLUDE
        self.plan.candidates.setdefault(item)
        earlier, at = self.said.setdefault(item, (decision, row.number))
        if earlier != decision:
            said = f"{item.identity.said} is {earlier}d in row {at} and {decision}d in row {row.number}."
            self.plan.fail(row.number, self.cells.include.column, "contradictory_repeat", said)
        elif at == row.number:
            self.take(row, item, decision)

    def take(self, row: Row, item: PlannedItem, decision: str) -> None:
        stored = self.known.outcomes.get(item.id or 0)
        if stored and (stored.decision == decision or (stored.is_dropped and decision == INCLUDE)):
            return
        if stored and not stored.is_derived:
            text = f"{item.identity.said} was {stored.decision}d in the study: reopen it there, or correct the sheet."
            self.plan.fail(row.number, self.cells.include.column, "contradicts_stored", text)
            return
        reason = self.cells.reason.of(row)
        reason = "" if is_blank(reason) else reason.strip()
        criterion = self.known.criterion_named(reason) if decision == EXCLUDE else None
        note = "" if criterion else reason
        self.plan.outcomes[item] = PlannedOutcome(item.id, decision, IMPORTED, criterion, note)

    def finish(self) -> None:
        """What is in and stands in no row was dropped later, where the mapping says so."""
        if not self.cells.drops_others:
            return
        here = {item.id for item in self.said}
        for item, stored in self.known.outcomes.items():
            if stored.decision == INCLUDE and item not in here:
                because = self.cells.because or NOT_THERE
                self.plan.dropped.append(PlannedOutcome(item, EXCLUDE, DROPPED, None, because))
