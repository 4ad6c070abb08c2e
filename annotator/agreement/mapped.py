"""What a merge would do to kappa: a round as answered and as mapped, from one count of its pairs of answers.

The raw statement leans on the same index as the count at a round's close. Nothing here is kept: stored counts stay.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from annotator.agreement.counting import RoundCounts
from annotator.agreement.entries import joint_reason
from annotator.agreement.scales import Scale, scales_of
from annotator.labeling.models import Round
from annotator.stats.cohen import Kappa, cohen
from annotator.stats.sets import Answers, alpha_over, masi
from annotator.stats.tables import Table

ALL_PAIRS = """
    SELECT a.rater_id, b.rater_id, a.category_id, b.category_id, COUNT(*)
    FROM labeling_answer a
    JOIN labeling_answer b ON b.round_id = %(round)s AND b.facet_id = %(facet)s AND b.bug_id = a.bug_id
        AND b.rater_id > a.rater_id AND b.is_current
    WHERE a.round_id = %(round)s AND a.facet_id = %(facet)s AND a.is_current
        AND NOT EXISTS (
            SELECT 1 FROM labeling_assignment s WHERE s.round_id = %(round)s AND s.bug_id = a.bug_id
            AND s.rater_id IN (a.rater_id, b.rater_id) AND s.state <> 'submitted'
        )
    GROUP BY a.rater_id, b.rater_id, a.category_id, b.category_id
"""
MOST_PAIRS = 3  # named one by one; more are summed
KAPPA, ALPHA = "kappa", "alpha (MASI)"


@dataclass(frozen=True)
class Figure:
    """A pair of raters, or all pairs together, before and after; the same bugs in both."""

    raters: tuple[str, ...]  # empty: all pairs
    coefficient: str
    as_answered: Kappa
    as_mapped: Kappa


def figures(round_: Round, facet: str, places: Mapping[str, str]) -> list[Figure]:
    """Of a round that is over; `places` leads from each category to the one that would take its place, by ids."""
    scale = next((scale for scale in scales_of(round_) if scale.key == facet), None)
    if round_.is_open or scale is None or scale.is_verdict or joint_reason(scale):
        return []
    return _of_sets(round_, scale, places) if scale.is_many else _of_pairs(round_, scale, places)


def _of_pairs(round_: Round, scale: Scale, places: Mapping[str, str]) -> list[Figure]:
    cells: dict[tuple[int, int], Counter[tuple[str, str]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(ALL_PAIRS, {"round": round_.pk, "facet": scale.facet_id})
        for first, second, a, b, count in cursor.fetchall():
            cells.setdefault((first, second), Counter())[scale.uids[a], scale.uids[b]] += count
    tables = {pair: Table(counted) for pair, counted in cells.items()}
    if len(tables) > MOST_PAIRS:
        return [_figure((), Table.pooled(tables.values()), places)]
    names = {pk: name for name, pk in RoundCounts(round_, (scale,)).raters.items()}
    told = {tuple(sorted(names[rater] for rater in pair)): table for pair, table in tables.items()}
    return [_figure(raters, told[raters], places) for raters in sorted(told)]


def _figure(raters: tuple[str, ...], table: Table, places: Mapping[str, str]) -> Figure:
    mapped: Counter[tuple[str, str]] = Counter()
    for (a, b), count in table.cells.items():
        mapped[places.get(a, a), places.get(b, b)] += count
    return Figure(raters, KAPPA, cohen(table), cohen(Table(mapped)))


def _of_sets(round_: Round, scale: Scale, places: Mapping[str, str]) -> list[Figure]:
    """One figure for all raters: alpha takes any number of them."""
    patterns: Counter[tuple[Answers, ...]] = Counter()
    for votes in RoundCounts(round_, (scale,)).votes(scale):
        patterns[tuple(sorted(votes.values(), key=sorted))] += 1
    mapped: Counter[tuple[Answers, ...]] = Counter()
    for given, count in patterns.items():
        mapped[tuple(frozenset(places.get(uid, uid) for uid in answers) for answers in given)] += count
    return [Figure((), ALPHA, _alpha(patterns), _alpha(mapped))]


def _alpha(patterns: Counter[tuple[Answers, ...]]) -> Kappa:
    found = alpha_over(patterns, distance=masi)
    paired = sum(count for votes, count in patterns.items() if len(votes) > 1)
    return Kappa(n=paired, value=found.value, reason=found.reason, se=found.se)
