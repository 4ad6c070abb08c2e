"""What the triggers guard: what is written stays, a closed round or screening takes nothing more, nobody decides on an own bug."""

# ruff: noqa: S608  # every piece of a condition is a constant of this file

from typing import Any

from django.db import connections

from annotator.overview import places, triggers
from annotator.overview.triggers import Guard, changed


def state(row: str) -> str:
    return f"(SELECT state FROM labeling_round WHERE id = {row}.round_id)"


def turn_state(row: str) -> str:
    return (
        "(SELECT r.state FROM labeling_assignment t JOIN labeling_round r ON r.id = t.round_id "
        f"WHERE t.id = {row}.assignment_id)"
    )


def screening_state(row: str) -> str:
    return (
        "(SELECT s.state FROM screening_screening s JOIN screening_candidate c ON c.screening_id = s.id "
        f"WHERE c.id = {row}.candidate_id)"
    )


NO_MORE = "the round is closed"
SCREENED = "the screening is closed"
MANY = "(SELECT is_many FROM codebook_facet WHERE id = NEW.facet_id)"
REVIVED = "NEW.is_current AND NOT OLD.is_current"
GATE = ("gate_coefficient", "gate_method", "gate_bound", "gate_min_n")
GOING_ON = ("gate_continued_reason", "gate_continued_at", "gate_continued_by_id")
ITSELF = "('unanimous', 'single')"
GIVEN = "answer.bug_id = NEW.bug_id AND answer.rater_id = NEW.by_id"
DUE = (
    "turn.bug_id = NEW.bug_id AND turn.rater_id = NEW.by_id AND turn.state NOT IN ('skipped', 'covered') "
    "AND round.state = 'open'"
)

WAITS = "what changes the meaning of answers waits for the end of open rounds"
MEANING = "('merge', 'split', 'redefine')"
EARLY = (
    f"(NEW.act IN {MEANING} OR (SELECT act FROM codebook_change undone WHERE undone.id = NEW.undoes_id) IN {MEANING}) "
    "AND EXISTS (SELECT 1 FROM labeling_round round JOIN codebook_codebook book ON book.study_id = round.study_id "
    "WHERE book.id = NEW.codebook_id AND round.state = 'open')"
)

GUARDS: dict[str, Guard] = {
    # --- what is written stays
    "event_stays": Guard("history_event", "UPDATE", "history is append-only"),
    "event_remains": Guard("history_event", "DELETE", "history is append-only"),
    "seal_stays": Guard("history_seal", "UPDATE", "seals are append-only"),
    "seal_remains": Guard("history_seal", "DELETE", "seals are append-only"),
    "version_stays": Guard("codebook_version", "UPDATE", "a published codebook version is immutable"),
    "version_remains": Guard("codebook_version", "DELETE", "a published codebook version is immutable"),
    "category_named_anew": Guard(
        "codebook_category", "UPDATE", "a category keeps its id and facet", when=changed("uid", "facet_id")
    ),
    "change_stays": Guard(
        "codebook_change",
        "UPDATE",
        "a change of the codebook stays",
        when="OLD.applied_at IS NOT NULL OR OLD.withdrawn_at IS NOT NULL",
    ),
    "change_rewritten": Guard(
        "codebook_change",
        "UPDATE",
        "a change that waits is carried out or withdrawn, never rewritten",
        but=("applied_at", "withdrawn_at", "version_id", "categories", "old", "new"),
    ),
    "change_remains": Guard("codebook_change", "DELETE", "a change of the codebook stays"),
    "change_early": Guard("codebook_change", "UPDATE", WAITS, when="NEW.applied_at IS NOT NULL", look=EARLY),
    "change_at_once": Guard("codebook_change", "INSERT", WAITS, when="NEW.applied_at IS NOT NULL", look=EARLY),
    "deviation_stays": Guard("studies_deviation", "UPDATE", "deviations are append-only"),
    "deviation_remains": Guard("studies_deviation", "DELETE", "deviations are append-only"),
    # --- what was run, and what was handed out
    "recipe_stays": Guard(
        "reproduction_recipe", "UPDATE", "a recipe is changed by a further version", but=("is_current",)
    ),
    "recipe_remains": Guard("reproduction_recipe", "DELETE", "a recipe stays"),
    "environment_stays": Guard("reproduction_environment", "UPDATE", "an environment is named by its digest"),
    "run_final": Guard(
        "reproduction_run",
        "UPDATE",
        "a run that ended or was cancelled is final",
        when="OLD.state IN ('ended', 'cancelled')",
        but=("voided_at",),
    ),
    "run_remains": Guard("reproduction_run", "DELETE", "a run stays"),
    "log_stays": Guard("reproduction_log", "UPDATE", "a log is append-only"),
    "log_remains": Guard("reproduction_log", "DELETE", "a log is append-only"),
    "finding_stays": Guard(
        "publication_finding",
        "UPDATE",
        "a finding is changed by a further version",
        but=("is_current", "withdrawn_at", "why"),
    ),
    "finding_remains": Guard("publication_finding", "DELETE", "a finding stays"),
    "release_stays": Guard(
        "publication_release", "UPDATE", "a release is immutable", when="OLD.state = 'published'", but=("is_public",)
    ),
    "release_remains": Guard("publication_release", "DELETE", "a release stays", when="OLD.state = 'published'"),
    # --- screening
    "vote_late": Guard(
        "screening_vote", "INSERT", SCREENED, when="NEW.turn = 1", look=f"{screening_state('NEW')} = 'closed'"
    ),
    "vote_early": Guard(
        "screening_vote",
        "INSERT",
        "a second vote waits for the close",
        when="NEW.turn > 1",
        look=f"{screening_state('NEW')} = 'open'",
    ),
    "vote_changed": Guard("screening_vote", "UPDATE", SCREENED, look=f"{screening_state('OLD')} = 'closed'"),
    "vote_moved": Guard(
        "screening_vote",
        "UPDATE",
        "a vote stays with its reviewer and candidate",
        when=changed("candidate_id", "reviewer_id", "turn"),
    ),
    "vote_removed": Guard("screening_vote", "DELETE", SCREENED, look=f"{screening_state('OLD')} = 'closed'"),
    "reading_late": Guard(
        "screening_reading",
        "UPDATE",
        SCREENED,
        look="(SELECT state FROM screening_screening WHERE id = OLD.screening_id) = 'closed'",
    ),
    "outcome_early": Guard(
        "screening_outcome",
        "INSERT",
        "nothing is decided while the screening is open",
        look=f"{screening_state('NEW')} = 'open'",
    ),
    "outcome_overwritten": Guard(
        "screening_outcome",
        "UPDATE",
        "a decision is never overwritten",
        when=changed("decision", "source", "candidate_id", "note", "criterion_id"),
    ),
    "outcome_removed": Guard(
        "screening_outcome",
        "DELETE",
        "a decision is never deleted",
        look=f"{screening_state('OLD')} = 'closed'",
    ),
    "screening_reopened": Guard(
        "screening_screening",
        "UPDATE",
        "a closed screening stays closed",
        when=f"OLD.state = 'closed' AND ({changed('state', 'closed_at', 'rule')})",
    ),
    # --- bugs, whose places are copied from their items
    "bug_without_item": Guard(
        "sampling_bug",
        "INSERT",
        "a bug is one of an item that is there",
        look="(SELECT item.id FROM collection_item item WHERE item.id = NEW.item_id) IS NULL",
    ),
    "bug_moved": Guard("sampling_bug", "UPDATE", "a bug stays with its item", when=changed("item_id")),
    # --- rounds
    "round_reopened": Guard(
        "labeling_round",
        "UPDATE",
        "a round goes from open to closed, and stays",
        when="OLD.state <> NEW.state AND NOT (OLD.state = 'open' AND NEW.state = 'closed')",
    ),
    "round_stays": Guard(
        "labeling_round",
        "UPDATE",
        "a closed round stays as it was",
        when="OLD.state = 'closed' AND NEW.state = 'closed'",
        but=GOING_ON,
    ),
    "round_goes_on": Guard(
        "labeling_round",
        "UPDATE",
        "the reason to go on below the gate stays",
        when=f"OLD.gate_continued_at IS NOT NULL AND ({changed(*GOING_ON)})",
    ),
    "round_begun": Guard(
        "labeling_round",
        "UPDATE",
        "gate, overlap, order and codebook stand since the first submission",
        when=f"OLD.state = 'open' AND ({changed(*GATE, 'kind', 'design', 'overlap', 'seed')} "
        f"OR NEW.state = 'open' AND {changed('codebook_version_id')})",  # the close notes the version then in force
        look="EXISTS (SELECT 1 FROM labeling_assignment WHERE round_id = OLD.id AND revision > 0)",
    ),
    "round_remains": Guard("labeling_round", "DELETE", "a round is not deleted", when="OLD.state <> 'imported'"),
    "round_bug_added": Guard("labeling_roundbug", "INSERT", NO_MORE, look=f"{state('NEW')} = 'closed'"),
    "round_bug_late": Guard("labeling_roundbug", "UPDATE", NO_MORE, look=f"{state('OLD')} = 'closed'"),
    "round_bug_removed": Guard("labeling_roundbug", "DELETE", NO_MORE, look=f"{state('OLD')} = 'closed'"),
    "round_bug_moved": Guard(
        "labeling_roundbug", "UPDATE", "a bug stays in its round", when=changed("round_id", "bug_id")
    ),
    # --- turns
    "assignment_added": Guard("labeling_assignment", "INSERT", NO_MORE, look=f"{state('NEW')} = 'closed'"),
    "assignment_late": Guard("labeling_assignment", "UPDATE", NO_MORE, look=f"{state('OLD')} = 'closed'"),
    "assignment_removed": Guard(
        "labeling_assignment", "DELETE", "a turn is not deleted", look=f"{state('OLD')} <> 'imported'"
    ),
    "assignment_moved": Guard(
        "labeling_assignment",
        "UPDATE",
        "a turn stays with its rater and bug",
        when=changed("round_id", "bug_id", "rater_id"),
    ),
    "evidence_late": Guard("labeling_evidence", "INSERT", NO_MORE, look=f"{turn_state('NEW')} = 'closed'"),
    "evidence_changed": Guard("labeling_evidence", "UPDATE", NO_MORE, look=f"{turn_state('OLD')} = 'closed'"),
    "evidence_overwritten": Guard("labeling_evidence", "UPDATE", "evidence is never overwritten", but=("is_current",)),
    "evidence_removed": Guard(
        "labeling_evidence", "DELETE", "evidence is never deleted", look=f"{turn_state('OLD')} <> 'imported'"
    ),
    "further_bug_late": Guard("labeling_furtherbug", "INSERT", NO_MORE, look=f"{turn_state('NEW')} = 'closed'"),
    "further_bug_overwritten": Guard(
        "labeling_furtherbug", "UPDATE", "a note of a further bug stays", when=changed("assignment_id", "note", "at")
    ),
    "further_bug_removed": Guard("labeling_furtherbug", "DELETE", "a note of a further bug stays"),
    "flag_early": Guard(
        "labeling_flag",
        "INSERT",
        "the round is open: its answers are changed, not flagged",
        look=f"{turn_state('NEW')} = 'open'",
    ),
    # --- answers
    "answer_late": Guard("labeling_answer", "INSERT", NO_MORE, look=f"{state('NEW')} = 'closed'"),
    "answer_second": Guard(
        "labeling_answer", "INSERT", "the facet takes one answer", when="NEW.slot > 0", look=f"NOT {MANY}"
    ),
    "answer_changed": Guard(
        "labeling_answer", "UPDATE", "the round takes no answers", look=f"{state('OLD')} <> 'open'"
    ),
    "answer_overwritten": Guard("labeling_answer", "UPDATE", "an answer is never overwritten", but=("is_current",)),
    "answer_revived": Guard("labeling_answer", "UPDATE", "an answer that was replaced stays replaced", when=REVIVED),
    "answer_removed": Guard(
        "labeling_answer", "DELETE", "an answer is never deleted", look=f"{state('OLD')} <> 'imported'"
    ),
    # --- agreement
    "snapshot_early": Guard(
        "agreement_snapshot", "INSERT", "an open round has no agreement", look=f"{state('NEW')} = 'open'"
    ),
    "snapshot_stays": Guard(
        "agreement_snapshot", "UPDATE", "the agreement of a closed round stays", look=f"{state('OLD')} = 'closed'"
    ),
    "snapshot_overwritten": Guard("agreement_snapshot", "UPDATE", "a count is never overwritten", but=("is_current",)),
    "snapshot_remains": Guard(
        "agreement_snapshot", "DELETE", "the agreement of a closed round stays", look=f"{state('OLD')} = 'closed'"
    ),
    # --- decisions
    "resolution_early": Guard(
        "adjudication_resolution",
        "INSERT",
        "an open round settles nothing",
        when="NEW.round_id IS NOT NULL",
        look=f"{state('NEW')} = 'open'",
    ),
    "resolution_second": Guard(
        "adjudication_resolution", "INSERT", "the facet takes one label", when="NEW.slot > 0", look=f"NOT {MANY}"
    ),
    "resolution_by_rater": Guard(
        "adjudication_resolution",
        "INSERT",
        "who rated a bug does not adjudicate it",
        when="NEW.source = 'adjudicated'",
        look=f"EXISTS (SELECT 1 FROM labeling_answer answer WHERE {GIVEN}) OR EXISTS (SELECT 1 FROM "
        f"labeling_assignment turn JOIN labeling_round round ON round.id = turn.round_id WHERE {DUE})",
    ),
    "assignment_of_adjudicator": Guard(
        "labeling_assignment",
        "INSERT",
        "who adjudicated a bug does not rate it",
        look="EXISTS (SELECT 1 FROM adjudication_resolution decision WHERE decision.bug_id = NEW.bug_id "
        "AND decision.by_id = NEW.rater_id AND decision.is_current)",
    ),
    "resolution_unexplained": Guard(
        "adjudication_resolution",
        "INSERT",
        "a label that no rater gave needs a note",
        when="NEW.source = 'adjudicated' AND NEW.note = ''",
        look="NOT EXISTS (SELECT 1 FROM labeling_answer answer JOIN labeling_round round ON round.id = answer.round_id "
        "WHERE answer.bug_id = NEW.bug_id AND answer.category_id = NEW.category_id AND answer.is_current "
        "AND round.state <> 'open')",
    ),
    "resolution_rewritten": Guard(
        "adjudication_resolution", "UPDATE", "a decision is never rewritten", but=("is_current", "is_stale")
    ),
    "resolution_replaced": Guard(
        "adjudication_resolution",
        "UPDATE",
        "a decision that was replaced stays as it was",
        when="NEW.is_stale <> OLD.is_stale AND (OLD.is_stale OR NOT OLD.is_current)",
    ),
    "resolution_revived": Guard(
        "adjudication_resolution",
        "UPDATE",
        "a decision that was replaced stays replaced",
        when=REVIVED,
        look="EXISTS (SELECT 1 FROM adjudication_resolution later WHERE later.bug_id = OLD.bug_id AND "
        "later.facet_id = OLD.facet_id AND later.slot = OLD.slot AND later.id > OLD.id "
        f"AND later.source NOT IN {ITSELF})",
    ),
    "resolution_removed": Guard(
        "adjudication_resolution",
        "DELETE",
        "a decision is never deleted",
        when="OLD.source <> 'imported'",
        look=f"OLD.source NOT IN {ITSELF} OR COALESCE({state('OLD')}, '') <> 'imported'",
    ),
    "stand_early": Guard(
        "adjudication_stand", "INSERT", "a stand is taken after the close", look=f"{state('NEW')} = 'open'"
    ),
    "stand_of_others": Guard(
        "adjudication_stand",
        "INSERT",
        "only a rater of the bug takes a stand on it",
        look="NOT EXISTS (SELECT 1 FROM labeling_answer answer WHERE answer.round_id = NEW.round_id "
        "AND answer.bug_id = NEW.bug_id AND answer.rater_id = NEW.rater_id)",
    ),
    "stand_overwritten": Guard("adjudication_stand", "UPDATE", "a stand is never overwritten", but=("is_current",)),
    "stand_revived": Guard("adjudication_stand", "UPDATE", "a stand that was replaced stays replaced", when=REVIVED),
    "stand_remains": Guard("adjudication_stand", "DELETE", "a stand is never deleted"),
    "remark_early": Guard(
        "adjudication_remark", "INSERT", "a round is discussed after its close", look=f"{state('NEW')} = 'open'"
    ),
    "remark_stays": Guard("adjudication_remark", "UPDATE", "a remark stays as it was said"),
    "remark_remains": Guard("adjudication_remark", "DELETE", "a remark stays as it was said"),
}


def install(alias: str = "default") -> None:
    triggers.install(GUARDS, alias)
    places.install(alias)


def remove(alias: str = "default") -> None:
    triggers.remove(alias)


def before_migrate(using: str = "default", **_: Any) -> None:
    """Receiver of pre_migrate."""
    remove(using)


def after_migrate(using: str = "default", plan: Any = (), **_: Any) -> None:
    """Receiver of post_migrate."""
    tables = connections[using].introspection.table_names()
    if {"sampling_place", *(guard.table for guard in GUARDS.values())} <= set(tables):
        install(using)
