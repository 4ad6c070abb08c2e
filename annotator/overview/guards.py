"""Triggers: history is append-only, and a closed round or screening takes nothing more.

One file for both databases. They are taken away before migrations and put back afterwards: SQLite rebuilds tables,
which a trigger that reads them would not let it do.
"""

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

CLOSED = "(SELECT state FROM labeling_round WHERE id = {row}.round_id) = 'closed'"
NOT_IMPORTED = "(SELECT state FROM labeling_round WHERE id = OLD.round_id) <> 'imported'"
SCREENED = (
    "(SELECT s.state FROM screening_screening s JOIN screening_candidate c ON c.screening_id = s.id "
    "WHERE c.id = {row}.candidate_id)"
)

# Each has its table, act, condition (or none) and what is said.
GUARDS: dict[str, tuple[str, str, str, str]] = {
    "event_stays": ("history_event", "UPDATE", "", "history is append-only"),
    "event_remains": ("history_event", "DELETE", "", "history is append-only"),
    "seal_stays": ("history_seal", "UPDATE", "", "seals are append-only"),
    "seal_remains": ("history_seal", "DELETE", "", "seals are append-only"),
    "version_stays": ("codebook_version", "UPDATE", "", "a published codebook version is immutable"),
    "version_remains": ("codebook_version", "DELETE", "", "a published codebook version is immutable"),
    "answer_late": ("labeling_answer", "INSERT", CLOSED.format(row="NEW"), "the round is closed"),
    "answer_changed": ("labeling_answer", "UPDATE", CLOSED.format(row="OLD"), "the round is closed"),
    "answer_overwritten": (
        "labeling_answer",
        "UPDATE",
        "NEW.category_id <> OLD.category_id OR NEW.facet_id <> OLD.facet_id OR NEW.rater_id <> OLD.rater_id",
        "an answer is never overwritten",
    ),
    "answer_removed": ("labeling_answer", "DELETE", NOT_IMPORTED, "an answer is never deleted"),
    "assignment_late": ("labeling_assignment", "UPDATE", CLOSED.format(row="OLD"), "the round is closed"),
    "assignment_removed": ("labeling_assignment", "DELETE", CLOSED.format(row="OLD"), "the round is closed"),
    "round_reopened": (
        "labeling_round",
        "UPDATE",
        "OLD.state = 'closed' AND (NEW.state <> 'closed' OR NEW.closed_at <> OLD.closed_at "
        "OR NEW.gate_bound <> OLD.gate_bound OR NEW.gate_coefficient <> OLD.gate_coefficient)",
        "a closed round stays closed",
    ),
    "vote_late": (
        "screening_vote",
        "INSERT",
        f"NEW.turn = 1 AND {SCREENED.format(row='NEW')} = 'closed'",
        "the screening is closed",
    ),
    "vote_early": (
        "screening_vote",
        "INSERT",
        f"NEW.turn > 1 AND {SCREENED.format(row='NEW')} = 'open'",
        "a second vote waits for the close",
    ),
    "vote_changed": (
        "screening_vote",
        "UPDATE",
        f"{SCREENED.format(row='OLD')} = 'closed' OR NEW.candidate_id <> OLD.candidate_id "
        "OR NEW.reviewer_id <> OLD.reviewer_id OR NEW.turn <> OLD.turn",
        "the screening is closed",
    ),
    "vote_removed": ("screening_vote", "DELETE", f"{SCREENED.format(row='OLD')} = 'closed'", "the screening is closed"),
    "reading_late": (
        "screening_reading",
        "UPDATE",
        "(SELECT state FROM screening_screening WHERE id = OLD.screening_id) = 'closed'",
        "the screening is closed",
    ),
    "outcome_early": (
        "screening_outcome",
        "INSERT",
        f"{SCREENED.format(row='NEW')} = 'open'",
        "nothing is decided while the screening is open",
    ),
    "outcome_overwritten": (
        "screening_outcome",
        "UPDATE",
        "NEW.decision <> OLD.decision OR NEW.source <> OLD.source OR NEW.candidate_id <> OLD.candidate_id "
        "OR NEW.note <> OLD.note OR COALESCE(NEW.criterion_id, 0) <> COALESCE(OLD.criterion_id, 0)",
        "a decision is never overwritten",
    ),
    "outcome_removed": (
        "screening_outcome",
        "DELETE",
        f"{SCREENED.format(row='OLD')} = 'closed'",
        "a decision is never deleted",
    ),
    "screening_reopened": (
        "screening_screening",
        "UPDATE",
        "OLD.state = 'closed' AND (NEW.state <> 'closed' OR NEW.closed_at <> OLD.closed_at OR NEW.rule <> OLD.rule)",
        "a closed screening stays closed",
    ),
}


def install(alias: str = "default") -> None:
    connection = connections[alias]
    remove(alias)
    with connection.cursor() as cursor:
        for name, guard in GUARDS.items():
            for statement in statements(connection, name, *guard):
                cursor.execute(statement)


def remove(alias: str = "default") -> None:
    connection = connections[alias]
    with connection.cursor() as cursor:
        for name, (table, *_) in GUARDS.items():
            place = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{place}")


def statements(
    connection: BaseDatabaseWrapper, name: str, table: str, act: str, condition: str, said: str
) -> list[str]:
    """What makes the guard on this database."""
    if connection.vendor == "postgresql":
        test = f"IF {condition} THEN RAISE EXCEPTION '{said}'; END IF;" if condition else f"RAISE EXCEPTION '{said}';"
        back = "OLD" if act == "DELETE" else "NEW"
        return [
            f"CREATE OR REPLACE FUNCTION guard_{name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {test} RETURN {back}; END $$",
            f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH ROW EXECUTE FUNCTION guard_{name}()",
        ]
    when = f" WHEN {condition}" if condition else ""
    return [
        f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH ROW{when} BEGIN SELECT RAISE(ABORT, '{said}'); END"
    ]


def before_migrate(using: str = "default", **_: Any) -> None:
    """Receiver of pre_migrate."""
    remove(using)


def after_migrate(using: str = "default", plan: Any = (), **_: Any) -> None:
    """Receiver of post_migrate."""
    tables = connections[using].introspection.table_names()
    if all(table in tables for table, *_ in GUARDS.values()):
        install(using)
