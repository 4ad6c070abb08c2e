"""What an import would bring, worked out before anything is stored."""

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotator.intake.cleaning import Choice, New
from annotator.intake.identity import Identity, Place
from annotator.intake.sheets import Remark

RoundName = str
Category = int | New


@dataclass(frozen=True, slots=True)
class KnownFacet:
    id: int
    key: str
    name: str
    is_many: bool
    is_verdict: bool
    choices: tuple[Choice, ...]
    reasons: AnyMapping[str, str] = field(default_factory=dict)  # of the verdict: why not a bug, name to uid


@dataclass(frozen=True, slots=True)
class KnownRound:
    id: int
    is_imported: bool
    state: str
    blindness: str


@dataclass(frozen=True, slots=True)
class KnownPerson:
    id: int
    username: str
    display_name: str
    roles: frozenset[str]  # in this study


@dataclass(frozen=True, slots=True)
class KnownOutcome:
    """What is decided on a candidate that a sheet brought; derived: it follows from votes and may change with them."""

    decision: str
    is_derived: bool
    is_dropped: bool


@dataclass(slots=True)
class Known:
    """What the study holds already, as far as the mapping speaks of it."""

    facets: list[KnownFacet] = field(default_factory=list)
    repositories: dict[str, int] = field(default_factory=dict)  # label in lower case
    places: dict[str, Place] = field(default_factory=dict)  # label in lower case
    by_place: dict[str, int] = field(default_factory=dict)
    moved: dict[str, Place] = field(default_factory=dict)  # by host/owner/name that it had or has besides
    items: dict[str, int] = field(default_factory=dict)  # by identity
    untitled: set[int] = field(default_factory=set)
    bugs: dict[tuple[int, int], int] = field(default_factory=dict)  # (item, ordinal)
    people: list[KnownPerson] = field(default_factory=list)
    accounts: dict[str, tuple[int, bool]] = field(default_factory=dict)  # by user name, outside the study; in use
    rounds: dict[RoundName, KnownRound] = field(default_factory=dict)
    round_bugs: dict[int, set[int]] = field(default_factory=dict)  # by round
    answers: dict[tuple[int, int, int, int], frozenset[int]] = field(default_factory=dict)  # round, bug, rater, facet
    turns: dict[tuple[int, int, int], tuple[int, str, str]] = field(default_factory=dict)  # id, note, confidence
    deciders: set[tuple[int, int]] = field(default_factory=set)  # bug, and who adjudicated it
    finals: dict[tuple[int, int], tuple[frozenset[int], bool]] = field(default_factory=dict)  # and: it settled itself
    candidates: dict[int, int] = field(default_factory=dict)  # by item, of those that sheets brought
    screened_here: dict[int, str] = field(default_factory=dict)  # by item: the screening that reads it
    votes: dict[tuple[int, int], str] = field(default_factory=dict)  # item, reviewer
    outcomes: dict[int, KnownOutcome] = field(default_factory=dict)  # by item
    criteria: dict[str, int] = field(default_factory=dict)  # by code and name, folded
    contexts: dict[tuple[int, int], tuple[int, dict[str, str]]] = field(default_factory=dict)  # item, ordinal

    def criterion_named(self, reason: str) -> int | None:
        """The criterion whose code or name the text is."""
        return self.criteria.get(" ".join(reason.casefold().split()))

    @property
    def bugs_per_item(self) -> AnyMapping[int, int]:
        counts: dict[int, int] = {}
        for item, _ in self.bugs:
            counts[item] = counts.get(item, 0) + 1
        return counts


@dataclass(slots=True, eq=False)
class PlannedItem:
    identity: Identity
    kind: str
    title: str
    id: int | None = None

    @property
    def repository(self) -> str:
        return self.identity.label.lower()


@dataclass(slots=True, eq=False)
class PlannedBug:
    item: PlannedItem
    ordinal: int
    row: int
    id: int | None = None

    @property
    def said(self) -> str:
        name = self.item.identity.said
        return name if self.ordinal == 1 else f"{name}, bug {self.ordinal}"


@dataclass(slots=True, eq=False)
class PlannedPerson:
    """A rater or reviewer of the sheet. Without an id there is no account yet."""

    name: str
    username: str
    id: int | None = None
    needs_role: bool = True


@dataclass(slots=True, eq=False)
class PlannedRound:
    name: RoundName
    id: int | None = None


@dataclass(slots=True)
class Turn:
    """One rater's turn at one bug of a round."""

    round: PlannedRound
    bug: PlannedBug
    rater: PlannedPerson
    row: int
    note: str = ""
    confidence: str = ""
    not_a_bug_reason: str = ""
    id: int | None = None
    has_new_note: bool = False


class Said(NamedTuple):
    """What a cell says, and where it stands."""

    categories: tuple[Category, ...]
    cell: str
    row: int
    column: str


@dataclass(slots=True)
class PlannedVote:
    item: PlannedItem
    reviewer: PlannedPerson
    decision: str
    reason: str
    cell: str
    row: int
    column: str
    criterion: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedOutcome:
    """A decision that a sheet brings; of a candidate that is there or that the plan brings."""

    item: int | None
    decision: str
    source: str
    criterion: int | None
    note: str


@dataclass(slots=True)
class Plan:
    """Everything that would be stored, everything that is wrong, everything one should know."""

    rows: int = 0
    skipped: int = 0
    blindness: str = "unknown"
    places: dict[str, Place] = field(default_factory=dict)  # repository labels in lower case
    items: list[PlannedItem] = field(default_factory=list)
    bugs: list[PlannedBug] = field(default_factory=list)
    people: list[PlannedPerson] = field(default_factory=list)
    rounds: list[PlannedRound] = field(default_factory=list)
    round_bugs: dict[tuple[PlannedRound, PlannedBug], None] = field(default_factory=dict)
    turns: dict[tuple[PlannedRound, PlannedBug, PlannedPerson], Turn] = field(default_factory=dict)
    answers: dict[tuple[PlannedRound, PlannedBug, PlannedPerson, int], Said] = field(default_factory=dict)
    finals: dict[tuple[PlannedBug, int], Said] = field(default_factory=dict)
    final_rounds: dict[PlannedBug, PlannedRound] = field(default_factory=dict)
    candidates: dict[PlannedItem, None] = field(default_factory=dict)
    votes: dict[tuple[PlannedItem, PlannedPerson], PlannedVote] = field(default_factory=dict)
    outcomes: dict[PlannedItem, PlannedOutcome] = field(default_factory=dict)
    dropped: list[PlannedOutcome] = field(default_factory=list)
    contexts: dict[tuple[PlannedItem, int], dict[str, str]] = field(default_factory=dict)
    titles: dict[PlannedItem, str] = field(default_factory=dict)  # for items that have none yet
    new_categories: dict[int, list[New]] = field(default_factory=dict)  # by facet
    facet_keys: dict[int, str] = field(default_factory=dict)
    unknown_labels: dict[int, list[str]] = field(default_factory=dict)  # by facet
    warnings: list[Remark] = field(default_factory=list)
    errors: list[Remark] = field(default_factory=list)

    def warn(self, row: int | None, column: str, code: str, text: str) -> None:
        self.warnings.append(Remark(row, column, code, text))

    def fail(self, row: int | None, column: str, code: str, text: str) -> None:
        self.errors.append(Remark(row, column, code, text))

    @property
    def new_items(self) -> list[PlannedItem]:
        return [item for item in self.items if item.id is None]

    @property
    def new_bugs(self) -> list[PlannedBug]:
        return [bug for bug in self.bugs if bug.id is None]

    @property
    def is_empty(self) -> bool:
        """Nothing would be stored that is not there already."""
        stored = (
            self.new_items, self.new_bugs, self.answers, self.finals, self.votes, self.contexts, self.titles,
            self.outcomes, self.dropped,
            [turn for turn in self.turns.values() if turn.id is None or turn.has_new_note],
            [person for person in self.people if person.id is None or person.needs_role],
        )  # fmt: skip
        return not any(stored)

    def report(self) -> dict[str, Any]:
        """What the `import_sheet` command prints."""
        return {
            "rows": self.rows,
            "rows_skipped": self.skipped,
            "items_created": len(self.new_items),
            "bugs_created": len(self.new_bugs),
            "bugs_matched": len(self.bugs) - len(self.new_bugs),
            "answers": sum(len(said.categories) for said in self.answers.values()),
            "finals": sum(len(said.categories) for said in self.finals.values()),
            "votes": len(self.votes),
            "outcomes": len(self.outcomes) + len(self.dropped),
            "new_people": [person.username for person in self.people if person.id is None],
            "warnings": [remark._asdict() for remark in self.warnings],
            "errors": [remark._asdict() for remark in self.errors],
            "unknown_labels": {self.facet_keys[facet]: labels for facet, labels in self.unknown_labels.items()},
            "new_categories": [
                {"facet": self.facet_keys[facet], "name": new.name}
                for facet, added in self.new_categories.items()
                for new in added
            ],
        }
