"""How far raters agree after the close: blind answers with second looks and stands laid over them.

A number of its own. The blind agreement of a round is in its snapshot and is never touched by this.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

from django.db.models import QuerySet

from annotator.adjudication.models import Stand
from annotator.codebook.models import Facet
from annotator.labeling.models import Answer, Round
from annotator.stats.cohen import Kappa, cohen
from annotator.stats.tables import Table

Place = tuple[int, str, str]  # bug id, facet key, user name
Labels = dict[Place, frozenset[str]]  # uids


@dataclass(frozen=True)
class After:
    """One facet and pair of raters: the bugs that both answered blind, before and after the discussion."""

    facet: str
    raters: tuple[str, str]
    blind: Kappa
    after: Kappa


def after_discussion(round_: Round) -> list[After]:
    """Facets with one answer, in the codebook's order, per pair of raters. A closed or imported round only."""
    blind = _answers(Answer.objects.current().filter(round=round_))
    now = blind | _later(round_, blind)
    facets = Facet.objects.filter(codebook__study=round_.study_id, is_many=False, retired_at=None)
    raters = sorted({rater for _, _, rater in blind})
    found = [
        After(facet.name, pair, _kappa(blind, blind, facet.key, pair), _kappa(blind, now, facet.key, pair))
        for facet in facets
        for pair in combinations(raters, 2)
    ]
    return [one for one in found if one.blind.n]


def _answers(rows: QuerySet[Answer]) -> Labels:
    out: dict[Place, set[str]] = defaultdict(set)
    for bug, facet, rater, uid in rows.values_list("bug", "facet__key", "rater__username", "category__uid"):
        out[bug, facet, rater].add(uid)
    return {place: frozenset(label) for place, label in out.items()}


def _later(round_: Round, blind: Labels) -> Labels:
    """Second looks by the same raters, then their stands: the later word counts."""
    again = Round.objects.with_agreement().filter(
        study=round_.study_id, kind=Round.Kind.RELABEL, number__gt=round_.number
    )
    out: Labels = {}
    for later in again.order_by("number"):
        out |= _answers(Answer.objects.current().filter(round=later))
    stands: dict[Place, set[str]] = defaultdict(set)
    rows = Stand.objects.filter(round=round_, is_current=True)
    for bug, facet, rater, uid in rows.values_list("bug", "facet__key", "rater__username", "categories__uid"):
        stands[bug, facet, rater].add(uid)
    out |= {place: frozenset(label) for place, label in stands.items()}
    return {place: label for place, label in out.items() if place in blind}


def _kappa(blind: Labels, labels: Labels, facet: str, pair: tuple[str, str]) -> Kappa:
    """Over the bugs that both answered blind, so that both numbers speak of the same bugs."""
    bugs = [bug for bug, key, rater in blind if key == facet and rater == pair[0] and (bug, facet, pair[1]) in blind]
    pairs = ((labels[bug, facet, pair[0]], labels[bug, facet, pair[1]]) for bug in bugs)
    return cohen(Table.of_pairs(("".join(sorted(first)), "".join(sorted(second))) for first, second in pairs))
