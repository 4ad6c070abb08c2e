"""Agreement of the screening votes, where a study has them."""

from collections import Counter
from itertools import combinations, groupby
from operator import itemgetter

from django.db.models import Count, F

from annotator.agreement.comparing import AS_ANSWERED
from annotator.agreement.entries import Compared, Entry, Frame, empty_entry, many_entry, pair_entry
from annotator.agreement.scales import Choice, Scale
from annotator.screening.models import Vote
from annotator.stats.reasons import ONE_RATER
from annotator.stats.sets import Answers
from annotator.stats.tables import Table
from annotator.studies.models import Study

ROUND, FACET = "screening", "vote"
FIRST_TURN = 1  # later ones follow a discussion


def entries(study: Study) -> list[Entry]:
    votes = Vote.objects.filter(candidate__study=study, turn=FIRST_TURN).order_by()
    reviewers = dict(sorted(set(votes.values_list("reviewer__username", "reviewer_id").distinct())))
    if not reviewers:
        return []
    frame = Frame(ROUND, None, ROUND, "unknown", AS_ANSWERED)
    scale = _scale()
    candidates = votes.values("candidate").distinct().count()
    if len(reviewers) == 1:
        alone = Compared(tuple(reviewers), {"unanswered": 0})
        return [empty_entry(frame, scale, alone, n=candidates, reason=ONE_RATER)]
    found = []
    for names in combinations(reviewers, 2):
        table = _table(study, *(reviewers[name] for name in names))
        found.append(pair_entry(frame, scale, Compared(names, _excluded(candidates - table.n)), table))
    if len(reviewers) > 2:
        found.append(many_entry(frame, scale, list(reviewers), _patterns(study)))
    return found


def _excluded(others: int) -> dict[str, int]:
    return {"not_a_bug_both": 0, "not_a_bug_one": 0, "skipped": 0, "unanswered": others}


def _scale() -> Scale:
    choices = tuple(Choice(value, value) for value in Vote.Decision.values)
    return Scale(facet_id=0, key=FACET, name="Screening vote", choices=choices, uids={})


def _table(study: Study, first: int, second: int) -> Table:
    """The second reviewer's vote on the same candidate stands beside the first's."""
    both = Vote.objects.filter(candidate__study=study, turn=FIRST_TURN, reviewer=first).filter(
        candidate__votes__turn=FIRST_TURN, candidate__votes__reviewer=second
    )
    rows = both.order_by().values("decision", other=F("candidate__votes__decision")).annotate(n=Count("pk"))
    return Table({(row["decision"], row["other"]): row["n"] for row in rows})


def _patterns(study: Study) -> Counter[tuple[Answers, ...]]:
    votes = Vote.objects.filter(candidate__study=study, turn=FIRST_TURN)
    rows = votes.order_by("candidate_id").values_list("candidate_id", "decision")
    found: Counter[tuple[Answers, ...]] = Counter()
    for _, of_candidate in groupby(rows.iterator(chunk_size=5000), key=itemgetter(0)):
        found[tuple(sorted((frozenset({decision}) for _, decision in of_candidate), key=sorted))] += 1
    return found
