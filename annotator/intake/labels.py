"""Reads a row's answers, final labels and votes into the plan, and says what contradicts what."""

from annotator.intake.cleaning import Cleaner, Problem, is_blank, shorten
from annotator.intake.matching import NOWHERE, Cell
from annotator.intake.people import People
from annotator.intake.plans import (
    Known,
    Plan,
    PlannedBug,
    PlannedItem,
    PlannedPerson,
    PlannedRound,
    PlannedVote,
    Said,
    Turn,
)
from annotator.intake.sheets import Row
from annotator.intake.wanted import FacetCell, RaterCells, VoteCells, Wanted

CONFIDENCE = {"sure": "sure", "fairly sure": "fairly", "fairly": "fairly", "unsure": "unsure"}
INCLUDE, EXCLUDE = "include", "exclude"


class LabelReader:
    """Fills the plan's answers, finals and votes."""

    def __init__(self, wanted: Wanted, cleaner: Cleaner, known: Known, plan: Plan, people: People) -> None:
        self.wanted, self.cleaner, self.known, self.plan, self.people = wanted, cleaner, known, plan, people
        self.stored: dict[tuple[PlannedRound, PlannedBug, PlannedPerson, int], Said] = {}  # equal to what is there
        self.stored_finals: dict[tuple[PlannedBug, int], Said] = {}
        self.stored_votes: dict[tuple[PlannedItem, PlannedPerson], PlannedVote] = {}

    # --- answers

    def read_turn(
        self, row: Row, bug: PlannedBug, round_: PlannedRound, rater: PlannedPerson, cells: RaterCells
    ) -> None:
        has_answer, reason = False, ""
        for wanted in cells.facets:
            text = wanted.cell.of(row)
            read = wanted.reader.read(text) if text else ()
            if isinstance(read, Problem):
                self.plan.fail(row.number, wanted.cell.column, read.code, f"{bug.said}: {read.text}")
            elif read:
                has_answer = True
                said = Said(read, text, row.number, wanted.cell.column)  # type: ignore[arg-type]  # ids or New
                self.take_answer(round_, bug, rater, wanted, said)
                reason = reason or (wanted.reasons.get(self.cleaner.key(text), "") if wanted.reasons else "")
        note = cells.note.of(row)
        if has_answer or not is_blank(note):
            turn = self.take_turn(row, bug, round_, rater, cells, "" if is_blank(note) else note)
            turn.not_a_bug_reason = turn.not_a_bug_reason or reason

    def take_answer(
        self, round_: PlannedRound, bug: PlannedBug, rater: PlannedPerson, wanted: FacetCell, said: Said
    ) -> None:
        place = (round_, bug, rater, wanted.facet)
        earlier = self.plan.answers.get(place) or self.stored.get(place)
        if earlier is not None:
            self.compare(earlier, said, f"{bug.said}: {rater.username} answers {wanted.key}")
            return
        stored = self.stored_answer(round_, bug, rater, wanted.facet)
        if stored is None:
            self.plan.answers[place] = said
        elif stored == frozenset(said.categories):
            self.stored[place] = said
        else:
            text = f"{bug.said}: {rater.username} has another answer to {wanted.key} stored in the round “{round_.name}”; it is never overwritten."
            self.plan.fail(said.row, said.column, "contradicts_stored", text)

    def stored_answer(
        self, round_: PlannedRound, bug: PlannedBug, rater: PlannedPerson, facet: int
    ) -> frozenset[int] | None:
        if round_.id is None or bug.id is None or rater.id is None:
            return None
        return self.known.answers.get((round_.id, bug.id, rater.id, facet))

    def compare(self, earlier: Said, said: Said, what: str) -> None:
        if set(earlier.categories) == set(said.categories):
            return
        text = f"{what} “{shorten(earlier.cell)}” in row {earlier.row} and “{shorten(said.cell)}” in row {said.row}: two contradictory votes."
        self.plan.fail(said.row, said.column, "contradictory_repeat", text)

    def take_turn(
        self, row: Row, bug: PlannedBug, round_: PlannedRound, rater: PlannedPerson, cells: RaterCells, note: str
    ) -> Turn:
        place = (round_, bug, rater)
        turn = self.plan.turns.get(place)
        if turn is None:
            turn = self.plan.turns[place] = Turn(round_, bug, rater, row.number)
            if (bug.id, rater.id) in self.known.deciders:
                text = f"{bug.said}: {rater.username} adjudicated it here, so no answer of this person is taken."
                self.plan.fail(row.number, "", "adjudicated_here", text)
            if round_.id and bug.id and rater.id and (stored := self.known.turns.get((round_.id, bug.id, rater.id))):
                turn.id, turn.note, turn.confidence = stored
        if note and note != turn.note:
            self.take_note(row, turn, note, cells.note)
        confidence = self.confidence(row, cells.confidence)
        if confidence and not turn.confidence:
            turn.confidence, turn.has_new_note = confidence, True
        return turn

    def take_note(self, row: Row, turn: Turn, note: str, cell: Cell) -> None:
        if turn.note:
            text = f"{turn.bug.said}: {turn.rater.username} has another note already, which stays."
            self.plan.warn(row.number, cell.column, "note_differs", text)
        else:
            turn.note, turn.has_new_note = note, True

    def confidence(self, row: Row, cell: Cell) -> str:
        text = cell.of(row)
        if cell is NOWHERE or self.cleaner.is_blank(text):
            return ""
        found = CONFIDENCE.get(" ".join(text.casefold().split()))
        if found is None:
            self.plan.fail(
                row.number, cell.column, "unknown_confidence", f"“{shorten(text)}” is not sure, fairly sure or unsure."
            )
        return found or ""

    # --- final labels

    def read_final(self, row: Row, bug: PlannedBug, wanted: FacetCell) -> None:
        text = wanted.cell.of(row)
        read = wanted.reader.read(text) if text else ()
        if isinstance(read, Problem):
            self.plan.fail(row.number, wanted.cell.column, read.code, f"{bug.said}: {read.text}")
            return
        if not read:
            return
        said = Said(read, text, row.number, wanted.cell.column)  # type: ignore[arg-type]  # ids or New
        place = (bug, wanted.facet)
        earlier = self.plan.finals.get(place) or self.stored_finals.get(place)
        if earlier is not None:
            self.compare(earlier, said, f"{bug.said}: the final {wanted.key} is")
            return
        self.take_final(bug, wanted, said)

    def take_final(self, bug: PlannedBug, wanted: FacetCell, said: Said) -> None:
        labels, settled_itself = self.known.finals.get((bug.id or 0, wanted.facet), (None, False))
        if labels == frozenset(said.categories):
            self.stored_finals[bug, wanted.facet] = said
        elif labels is None or settled_itself:
            self.plan.finals[bug, wanted.facet] = said
        else:
            text = f"{bug.said} has another final {wanted.key} in the study: settle it there, or correct the sheet."
            self.plan.fail(said.row, said.column, "contradicts_stored", text)

    # --- screening

    def read_vote(self, row: Row, item: PlannedItem, cells: VoteCells) -> None:
        text = cells.include.of(row)
        if self.cleaner.is_blank(text):
            return
        decision = INCLUDE if self.cleaner.key(text) in cells.when else EXCLUDE
        reason = cells.reason.of(row)
        reason = "" if is_blank(reason) else reason
        criterion = self.known.criterion_named(reason) if decision == EXCLUDE else None
        column = cells.include.column
        vote = PlannedVote(item, cells.person, decision, reason, text, row.number, column, criterion)
        place = (item, cells.person)
        earlier = self.plan.votes.get(place) or self.stored_votes.get(place)
        stored = self.known.votes.get((item.id or 0, cells.person.id or 0))
        if earlier is not None and earlier.decision != decision:
            text = f"{item.identity.said}: {cells.person.username} votes {earlier.decision} in row {earlier.row} and {decision} in row {row.number}: two contradictory votes."
            self.plan.fail(row.number, vote.column, "contradictory_repeat", text)
        elif earlier is None and stored is None:
            self.plan.votes[place] = vote
        elif earlier is None and stored == decision:
            self.stored_votes[place] = vote
        elif earlier is None:
            text = f"{item.identity.said}: {cells.person.username} has voted {stored} in the study; it is never overwritten."
            self.plan.fail(row.number, vote.column, "contradicts_stored", text)
