"""What a merge would do to kappa: a round as answered and as mapped, from one count of its pairs of answers.

The raw statement leans on the same index as the count at a round's close. Nothing here is kept: stored counts stay.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from django.db import connection

from annotator.accounts.models import User
from annotator.codebook.models import Facet
from annotator.labeling.models import Answer, Assignment, Round
from annotator.stats.cohen import Kappa, cohen
from annotator.stats.sets import Answers, alpha_over, masi
from annotator.stats.tables import Table

ALL_PAIRS = """
    SELECT a.rater_id, b.rater_id, a.category_id, b.category_id, COUNT(*)
    FROM labeling_answer a
    JOIN labeling_answer b ON b.round_id = %(round)s AND b.facet_id = %(facet)s AND b.bug_id = a.bug_id
        AND b.rater_id > a.rater_id AND b.is_current
    WHERE a.round_id = %(round)s AND a.facet_id = %(facet)s AND a.is_current
    GROUP BY a.rater_id, b.rater_id, a.category_id, b.category_id
"""
MOST_PAIRS = 3  # named one by one; more are summed
KAPPA, ALPHA = "kappa", "alpha (MASI)"
Pair = tuple[int, int]  # of raters, by their keys
Places = Mapping[int, int]  # from each category to the one that would take its place, by their keys


@dataclass(frozen=True)
class Figure:
    """A pair of raters, or all pairs together, before and after; the same bugs in both."""

    raters: tuple[str, ...]  # empty: all pairs
    coefficient: str
    as_answered: Kappa
    as_mapped: Kappa


def figures(round_: Round, facet: Facet, places: Places) -> list[Figure]:
    """Of a round that is over."""
    if round_.is_open or facet.is_verdict or facet.decided != Facet.Decided.BLIND:
        return []
    if facet.is_many:
        return _of_sets(round_, facet, places)
    return _figures(_one_by_one(round_, facet) if _is_partly_withdrawn(round_) else _at_once(round_, facet), places)


def _is_partly_withdrawn(round_: Round) -> bool:
    """An answer stands in a turn that is not submitted: the plain count would take it in."""
    turns = Assignment.objects.filter(round=round_).exclude(state=Assignment.State.SUBMITTED)
    return Answer.objects.current().filter(assignment__in=turns).exists()


def _at_once(round_: Round, facet: Facet) -> dict[Pair, Table]:
    cells: dict[Pair, dict[tuple[str, str], int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(ALL_PAIRS, {"round": round_.pk, "facet": facet.pk})
        for first, second, a, b, count in cursor.fetchall():
            cells.setdefault((first, second), {})[str(a), str(b)] = count
    return {pair: Table(counted) for pair, counted in cells.items()}


def _one_by_one(round_: Round, facet: Facet) -> dict[Pair, Table]:
    cells: dict[Pair, Counter[tuple[str, str]]] = {}
    for of_bug in _votes(round_, facet).values():
        for first, second in combinations(sorted(of_bug), 2):
            said = (str(*of_bug[first]), str(*of_bug[second]))
            cells.setdefault((first, second), Counter())[said] += 1
    return {pair: Table(counted) for pair, counted in cells.items()}


def _votes(round_: Round, facet: Facet) -> dict[int, dict[int, set[int]]]:
    """By bug and rater, of turns that are submitted."""
    rows = Answer.objects.current().filter(round=round_, facet=facet, assignment__state=Assignment.State.SUBMITTED)
    votes: dict[int, dict[int, set[int]]] = {}
    for bug, rater, category in rows.values_list("bug_id", "rater_id", "category_id").iterator(chunk_size=5000):
        votes.setdefault(bug, {}).setdefault(rater, set()).add(category)
    return votes


def _figures(tables: Mapping[Pair, Table], places: Places) -> list[Figure]:
    if len(tables) > MOST_PAIRS:
        return [_figure((), Table.pooled(tables.values()), places)]
    names = _names({rater for pair in tables for rater in pair})
    told = {tuple(sorted(names[rater] for rater in pair)): table for pair, table in tables.items()}
    return [_figure(raters, told[raters], places) for raters in sorted(told)]


def _names(raters: Iterable[int]) -> dict[int, str]:
    return dict(User.objects.filter(pk__in=raters).values_list("pk", "username"))


def _figure(raters: tuple[str, ...], table: Table, places: Places) -> Figure:
    leads = {str(source): str(into) for source, into in places.items()}
    mapped: Counter[tuple[str, str]] = Counter()
    for (a, b), count in table.cells.items():
        mapped[leads.get(a, a), leads.get(b, b)] += count
    return Figure(raters, KAPPA, cohen(table), cohen(Table(mapped)))


def _of_sets(round_: Round, facet: Facet, places: Places) -> list[Figure]:
    """One figure for all raters: alpha takes any number of them, and any number of answers."""
    given = [[frozenset(said) for said in of_bug.values()] for of_bug in _votes(round_, facet).values()]
    mapped = [[frozenset(places.get(one, one) for one in said) for said in of_bug] for of_bug in given]
    return [Figure((), ALPHA, _alpha(given), _alpha(mapped))]


def _alpha(votes: Iterable[Iterable[frozenset[int]]]) -> Kappa:
    patterns: Counter[tuple[Answers, ...]] = Counter()
    for of_bug in votes:
        patterns[tuple(sorted((frozenset(map(str, said)) for said in of_bug), key=sorted))] += 1
    found = alpha_over(patterns, distance=masi)
    paired = sum(count for pattern, count in patterns.items() if len(pattern) > 1)
    return Kappa(n=paired, value=found.value, reason=found.reason, se=found.se)
