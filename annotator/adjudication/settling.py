"""What settles itself when a round closes, and what is left: a fixed number of statements whatever the round's size."""

# ruff: noqa: S608  # every piece of a statement is a constant of this file; values go as parameters

from typing import Any

from django.db import connection
from django.utils import timezone

from annotator.codebook.choices import choices_of
from annotator.codebook.models import Codebook
from annotator.labeling.models import Round

# A relabel round in which one of a bug's several raters looked again: a second pass, which settles nothing alone.
SECOND_LOOKS = """
    SELECT alone.bug_id FROM (
        SELECT bug_id, MIN(rater_id) AS rater_id FROM labeling_answer
        WHERE round_id = %(round)s AND is_current AND %(is_relabel)s
        GROUP BY bug_id HAVING COUNT(DISTINCT rater_id) = 1
    ) alone
    WHERE EXISTS (
        SELECT 1 FROM labeling_answer b JOIN labeling_round r ON r.id = b.round_id
        WHERE b.bug_id = alone.bug_id AND b.is_current AND b.rater_id <> alone.rater_id
        AND r.kind IN ('main', 'relabel') AND r.state <> 'open' AND r.number < %(number)s
    )
"""
WITH_SECOND_LOOKS = f"WITH second_looks AS ({SECOND_LOOKS})"

EARLIER_ROUNDS = "(SELECT id FROM labeling_round WHERE study_id = %(study)s AND number < %(number)s)"
BUGS_OF_ROUND = "(SELECT bug_id FROM labeling_answer WHERE round_id = %(round)s AND is_current)"

# A later round's word replaces an earlier one's, whatever its source.
SUPERSEDE = f"""
    {WITH_SECOND_LOOKS}
    UPDATE adjudication_resolution SET is_current = FALSE
    WHERE study_id = %(study)s AND is_current
    AND (round_id IS NULL OR round_id IN {EARLIER_ROUNDS})
    AND bug_id IN {BUGS_OF_ROUND} AND bug_id NOT IN (SELECT bug_id FROM second_looks)
"""
DROP_DISPUTES = f"""
    {WITH_SECOND_LOOKS}
    UPDATE adjudication_dispute SET is_current = FALSE, is_open = FALSE
    WHERE study_id = %(study)s AND is_current AND round_id IN {EARLIER_ROUNDS}
    AND bug_id IN {BUGS_OF_ROUND} AND bug_id NOT IN (SELECT bug_id FROM second_looks)
"""

# Where a second look differs from what was settled, the decision waits for a new one.
STALE = f"""
    {WITH_SECOND_LOOKS}
    UPDATE adjudication_resolution SET is_stale = TRUE
    WHERE study_id = %(study)s AND is_current AND NOT is_stale
    AND bug_id IN (SELECT bug_id FROM second_looks)
    AND EXISTS (
        SELECT 1 FROM labeling_answer a WHERE a.round_id = %(round)s AND a.is_current
        AND a.bug_id = adjudication_resolution.bug_id AND a.facet_id = adjudication_resolution.facet_id)
    AND NOT EXISTS (
        SELECT 1 FROM labeling_answer a WHERE a.round_id = %(round)s AND a.is_current
        AND a.bug_id = adjudication_resolution.bug_id AND a.facet_id = adjudication_resolution.facet_id
        AND a.category_id = adjudication_resolution.category_id)
"""

# An imported round takes further sheets: what settled itself in earlier rounds gives way …
SUPERSEDE_IMPORTED = f"""
    UPDATE adjudication_resolution SET is_current = FALSE
    WHERE study_id = %(study)s AND is_current AND source IN ('unanimous', 'single')
    AND round_id IN {EARLIER_ROUNDS} AND bug_id IN {BUGS_OF_ROUND}
"""
# … and what settled itself in this one, or did not, is worked out again where a sheet brought something new.
FORGET_TOUCHED = """
    DELETE FROM adjudication_{table}
    WHERE round_id = %(round)s {only}
    AND EXISTS (
        SELECT 1 FROM labeling_answer a WHERE a.round_id = %(round)s AND a.is_current
        AND a.bug_id = adjudication_{table}.bug_id AND a.at > adjudication_{table}.at)
"""

# Who answered what. Where anyone said "not a bug" only the verdict can be settled or disputed, and only when
# everyone of the bug said so is it settled; once it is settled as bug, the other facets follow.
COUNTED = f"""
    WITH given AS (
        SELECT bug_id, facet_id, category_id, rater_id FROM labeling_answer
        WHERE round_id = %(round)s AND is_current AND (%(bug)s IS NULL OR bug_id = %(bug)s)
    ), second_looks AS ({SECOND_LOOKS}), raters AS (
        SELECT bug_id, COUNT(DISTINCT rater_id) AS n FROM given GROUP BY bug_id
    ), denied AS (
        SELECT bug_id, COUNT(DISTINCT rater_id) AS n FROM given WHERE category_id = %(not_a_bug)s GROUP BY bug_id
    ), asked AS (
        SELECT bug_id, facet_id, COUNT(DISTINCT rater_id) AS n FROM given GROUP BY bug_id, facet_id
    ), chosen AS (
        SELECT bug_id, facet_id, category_id, COUNT(DISTINCT rater_id) AS n
        FROM given GROUP BY bug_id, facet_id, category_id
    )
"""

# One row per label on which all who answered agree. What an imported label outranks is kept, not current.
SETTLE = f"""
    INSERT INTO adjudication_resolution
        (study_id, bug_id, facet_id, slot, category_id, round_id, source,
         reason, note, participants, cell, at, is_current, is_stale)
    {COUNTED}, agreed AS (
        SELECT chosen.bug_id, chosen.facet_id, MAX(asked.n) AS n
        FROM chosen JOIN asked ON asked.bug_id = chosen.bug_id AND asked.facet_id = chosen.facet_id
        GROUP BY chosen.bug_id, chosen.facet_id HAVING MIN(chosen.n) = MAX(asked.n)
    )
    SELECT %(study)s, chosen.bug_id, chosen.facet_id,
        ROW_NUMBER() OVER (PARTITION BY chosen.bug_id, chosen.facet_id ORDER BY chosen.category_id) - 1,
        chosen.category_id, %(round)s, CASE WHEN agreed.n = 1 THEN 'single' ELSE 'unanimous' END,
        '', '', '[]', '', %(now)s,
        NOT EXISTS (
            SELECT 1 FROM adjudication_resolution r
            WHERE r.bug_id = chosen.bug_id AND r.facet_id = chosen.facet_id AND r.is_current),
        FALSE
    FROM chosen
    JOIN agreed ON agreed.bug_id = chosen.bug_id AND agreed.facet_id = chosen.facet_id
    JOIN raters ON raters.bug_id = chosen.bug_id
    LEFT JOIN denied ON denied.bug_id = chosen.bug_id
    WHERE chosen.bug_id NOT IN (SELECT bug_id FROM second_looks)
    AND (denied.n IS NULL OR %(verdict_is_bug)s AND chosen.facet_id <> %(verdict)s
         OR chosen.facet_id = %(verdict)s AND denied.n = raters.n)
    AND NOT EXISTS (
        SELECT 1 FROM adjudication_resolution r
        WHERE r.round_id = %(round)s AND r.bug_id = chosen.bug_id AND r.facet_id = chosen.facet_id
        AND r.source IN ('unanimous', 'single'))
"""

# One row per facet on which they differ; the distance is by rank, by common parent, or by what two sets share.
DISPUTE = f"""
    INSERT INTO adjudication_dispute
        (study_id, round_id, bug_id, facet_id, is_sure, distance, at, is_current, is_open)
    {COUNTED}, spans AS (
        SELECT facet_id, MAX(rank) - MIN(rank) AS width FROM codebook_category
        WHERE state = 'active' AND rank IS NOT NULL GROUP BY facet_id
    ), differing AS (
        SELECT chosen.bug_id, chosen.facet_id,
            CASE WHEN spans.width > 0 THEN (MAX(category.rank) - MIN(category.rank)) / spans.width
                 WHEN COUNT(DISTINCT COALESCE(category.parent_id, category.id)) = 1 THEN 0.5
                 ELSE 1 - SUM(CASE WHEN chosen.n = asked.n THEN 1.0 ELSE 0.0 END) / COUNT(*) END AS distance
        FROM chosen
        JOIN asked ON asked.bug_id = chosen.bug_id AND asked.facet_id = chosen.facet_id
        JOIN codebook_category category ON category.id = chosen.category_id
        LEFT JOIN spans ON spans.facet_id = chosen.facet_id
        LEFT JOIN denied ON denied.bug_id = chosen.bug_id
        WHERE denied.n IS NULL OR %(verdict_is_bug)s
        GROUP BY chosen.bug_id, chosen.facet_id, spans.width
        HAVING MIN(chosen.n) < MAX(asked.n) AND (NOT %(verdict_is_bug)s OR chosen.facet_id <> %(verdict)s)
        UNION ALL
        SELECT denied.bug_id, %(verdict)s, 1.0 FROM denied JOIN raters ON raters.bug_id = denied.bug_id
        WHERE denied.n < raters.n AND NOT %(verdict_is_bug)s
    )
    SELECT %(study)s, %(round)s, differing.bug_id, differing.facet_id,
        NOT EXISTS (
            SELECT 1 FROM labeling_assignment t WHERE t.round_id = %(round)s AND t.bug_id = differing.bug_id
            AND t.state = 'submitted' AND t.confidence <> 'sure'),
        COALESCE(differing.distance, 1), %(now)s, TRUE,
        NOT EXISTS (
            SELECT 1 FROM adjudication_resolution r
            WHERE r.bug_id = differing.bug_id AND r.facet_id = differing.facet_id AND r.is_current AND NOT r.is_stale)
    FROM differing
    WHERE differing.bug_id NOT IN (SELECT bug_id FROM second_looks)
    AND NOT EXISTS (
        SELECT 1 FROM adjudication_dispute d
        WHERE d.bug_id = differing.bug_id AND d.facet_id = differing.facet_id AND d.is_current)
"""

# What a stale decision leaves open where no dispute of the bug's facet is current yet.
REOPENED = """
    INSERT INTO adjudication_dispute
        (study_id, round_id, bug_id, facet_id, is_sure, distance, at, is_current, is_open)
    SELECT r.study_id, r.round_id, r.bug_id, r.facet_id, FALSE, 0, %(now)s, TRUE, TRUE
    FROM adjudication_resolution r
    WHERE r.study_id = %(study)s AND r.is_current AND r.is_stale AND r.slot = 0 AND r.round_id IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM adjudication_dispute d
        WHERE d.bug_id = r.bug_id AND d.facet_id = r.facet_id AND d.is_current)
"""

# While the verdict waits, the other facets of the bug do not come up.
HOLD = """
    UPDATE adjudication_dispute SET is_current = FALSE, is_open = FALSE
    WHERE study_id = %(study)s AND is_current
    AND facet_id NOT IN (SELECT id FROM codebook_facet WHERE key = 'verdict')
    AND EXISTS (
        SELECT 1 FROM adjudication_dispute v JOIN codebook_facet f ON f.id = v.facet_id
        WHERE v.bug_id = adjudication_dispute.bug_id AND v.is_open AND f.key = 'verdict')
"""

REFRESH = """
    UPDATE adjudication_dispute SET is_open = NOT is_open
    WHERE study_id = %(study)s AND is_current AND (%(bug)s IS NULL OR bug_id = %(bug)s)
    AND is_open = EXISTS (
        SELECT 1 FROM adjudication_resolution r
        WHERE r.bug_id = adjudication_dispute.bug_id AND r.facet_id = adjudication_dispute.facet_id
        AND r.is_current AND NOT r.is_stale)
"""


def settle_round(round_: Round) -> int:
    """Replace what earlier rounds settled on these bugs, settle what nobody differs on, and note the disputes.

    How many labels settled themselves.
    """
    values = _values(round_)
    if round_.state == Round.State.IMPORTED:
        itself = "AND source IN ('unanimous', 'single')"
        forget = [
            FORGET_TOUCHED.format(table="resolution", only=itself),
            FORGET_TOUCHED.format(table="dispute", only=""),
        ]
        before = [SUPERSEDE_IMPORTED, DROP_DISPUTES, *forget]
    else:
        before = [SUPERSEDE, DROP_DISPUTES, STALE, REOPENED]
    with connection.cursor() as cursor:
        join_sets(cursor, True)
        for statement in before:
            cursor.execute(statement, values)
        cursor.execute(SETTLE, values)
        settled = int(cursor.rowcount)
        for statement in (DISPUTE, REFRESH, HOLD):
            cursor.execute(statement, values)
        join_sets(cursor, False)
    return settled


def join_sets(cursor: Any, is_on: bool) -> None:
    """PostgreSQL knows no sizes of intermediate tables and would loop over pairs of rows: a round takes minutes."""
    if connection.vendor == "postgresql":
        cursor.execute(f"SET LOCAL enable_nestloop = {'off' if is_on else 'on'}")


def settle_rest_of(bug_id: int, *, round_: Round) -> None:
    """The verdict was settled as bug: the other facets settle themselves, or are disputed, by who answered them."""
    values = _values(round_) | {"bug": bug_id, "verdict_is_bug": True}
    with connection.cursor() as cursor:
        for statement in (SETTLE, DISPUTE, REOPENED, REFRESH):
            cursor.execute(statement, values)


def reopen_stale(study_id: int) -> None:
    """Note as disputes the decisions that have become stale."""
    values = {"study": study_id, "bug": None, "now": _now()}
    with connection.cursor() as cursor:
        for statement in (REOPENED, REFRESH, HOLD):
            cursor.execute(statement, values)


def refresh(study_id: int, bug_id: int | None = None) -> None:
    """Make `is_open` of the disputes follow the resolutions: of one bug, or of the whole study."""
    with connection.cursor() as cursor:
        cursor.execute(REFRESH, {"study": study_id, "bug": bug_id})


def _now() -> Any:
    return connection.ops.adapt_datetimefield_value(timezone.now())


def _values(round_: Round) -> dict[str, Any]:
    codebook = Codebook.objects.filter(study=round_.study_id).first()
    choices = choices_of(codebook) if codebook else None
    return {
        "study": round_.study_id,
        "round": round_.pk,
        "number": round_.number,
        "is_relabel": round_.kind == Round.Kind.RELABEL,
        "verdict": choices.verdict.id if choices and choices.verdict else -1,
        "not_a_bug": (choices.not_a_bug_id or -1) if choices else -1,
        "verdict_is_bug": False,
        "bug": None,
        "now": _now(),
    }
