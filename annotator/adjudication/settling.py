"""What settles itself when a round closes, in a fixed number of statements whatever the round's size."""

from typing import Any

from django.db import connection
from django.utils import timezone

from annotator.codebook.choices import choices_of
from annotator.labeling.models import Round

FINAL_KINDS = (Round.Kind.MAIN, Round.Kind.RELABEL)

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

# A later round's word replaces an earlier one's, whatever its source.
SUPERSEDE = """
    UPDATE adjudication_resolution SET is_current = FALSE
    WHERE study_id = %(study)s AND is_current
    AND (round_id IS NULL OR round_id IN (
        SELECT id FROM labeling_round WHERE study_id = %(study)s AND number < %(number)s))
    AND bug_id IN (SELECT bug_id FROM labeling_answer WHERE round_id = %(round)s AND is_current)
    AND bug_id NOT IN (SELECT bug_id FROM second_looks)
"""

# An imported round takes further sheets: what settled itself in earlier rounds gives way …
SUPERSEDE_IMPORTED = """
    UPDATE adjudication_resolution SET is_current = FALSE
    WHERE study_id = %(study)s AND is_current AND source IN ('unanimous', 'single')
    AND round_id IN (SELECT id FROM labeling_round WHERE study_id = %(study)s AND number < %(number)s)
    AND bug_id IN (SELECT bug_id FROM labeling_answer WHERE round_id = %(round)s AND is_current)
"""

# … and what settled itself in this one is worked out again where a sheet brought something new.
WORK_OUT_AGAIN = """
    DELETE FROM adjudication_resolution
    WHERE round_id = %(round)s AND source IN ('unanimous', 'single')
    AND EXISTS (
        SELECT 1 FROM labeling_answer a WHERE a.round_id = %(round)s AND a.is_current
        AND a.bug_id = adjudication_resolution.bug_id AND a.at > adjudication_resolution.at)
"""

# Where a second look differs from what was settled, the decision waits for a new one.
STALE = """
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

# One row per label on which all who answered agree. Where anyone said "not a bug" only the verdict can be
# settled, and only when everyone of the bug said so. What an imported label outranks is kept, not current.
SETTLE = """
    INSERT INTO adjudication_resolution
        (study_id, bug_id, facet_id, slot, category_id, round_id, source,
         reason, note, participants, cell, at, is_current, is_stale)
    WITH given AS (
        SELECT bug_id, facet_id, category_id, rater_id FROM labeling_answer
        WHERE round_id = %(round)s AND is_current AND (%(bug)s IS NULL OR bug_id = %(bug)s)
    ), second_looks AS (SECOND_LOOKS), raters AS (
        SELECT bug_id, COUNT(DISTINCT rater_id) AS n FROM given GROUP BY bug_id
    ), denied AS (
        SELECT DISTINCT bug_id FROM given WHERE category_id = %(not_a_bug)s
    ), asked AS (
        SELECT bug_id, facet_id, COUNT(DISTINCT rater_id) AS n FROM given GROUP BY bug_id, facet_id
    ), chosen AS (
        SELECT bug_id, facet_id, category_id, COUNT(DISTINCT rater_id) AS n
        FROM given GROUP BY bug_id, facet_id, category_id
    ), agreed AS (
        SELECT chosen.bug_id, chosen.facet_id, MAX(asked.n) AS n
        FROM chosen
        JOIN asked ON asked.bug_id = chosen.bug_id AND asked.facet_id = chosen.facet_id
        GROUP BY chosen.bug_id, chosen.facet_id
        HAVING MIN(chosen.n) = MAX(asked.n)
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
    WHERE chosen.bug_id NOT IN (SELECT bug_id FROM second_looks)
    AND (%(verdict_is_bug)s OR chosen.bug_id NOT IN (SELECT bug_id FROM denied)
         OR chosen.facet_id = %(verdict)s AND agreed.n = raters.n)
    AND NOT (%(verdict_is_bug)s AND chosen.facet_id = %(verdict)s)
    AND NOT EXISTS (
        SELECT 1 FROM adjudication_resolution r
        WHERE r.round_id = %(round)s AND r.bug_id = chosen.bug_id AND r.facet_id = chosen.facet_id
        AND r.source IN ('unanimous', 'single'))
""".replace("SECOND_LOOKS", SECOND_LOOKS)


def settle_round(round_: Round) -> int:
    """Replace what earlier rounds settled on these bugs, then settle what nobody differs on. How many labels."""
    values = _values(round_)
    with connection.cursor() as cursor:
        if round_.state == Round.State.IMPORTED:
            cursor.execute(SUPERSEDE_IMPORTED, values)
            cursor.execute(WORK_OUT_AGAIN, values)
        else:
            cursor.execute(WITH_SECOND_LOOKS + SUPERSEDE, values)
            cursor.execute(WITH_SECOND_LOOKS + STALE, values)
        cursor.execute(SETTLE, values)
        return cursor.rowcount


def settle_rest_of(bug_id: int, *, round_: Round) -> int:
    """The verdict was settled as bug: what nobody differs on among those who answered settles itself now."""
    values = _values(round_) | {"bug": bug_id, "verdict_is_bug": True}
    with connection.cursor() as cursor:
        cursor.execute(SETTLE, values)
        return cursor.rowcount


def _values(round_: Round) -> dict[str, Any]:
    choices = choices_of(round_.study.codebook)
    return {
        "study": round_.study_id,
        "round": round_.pk,
        "number": round_.number,
        "is_relabel": round_.kind == Round.Kind.RELABEL,
        "verdict": choices.verdict.id if choices.verdict else None,
        "not_a_bug": choices.not_a_bug_id,
        "verdict_is_bug": False,
        "bug": None,
        "now": connection.ops.adapt_datetimefield_value(timezone.now()),
    }
