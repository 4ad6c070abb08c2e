"""Agreement of screening votes: the blind ones of each screening that is no longer open, or that sheets brought."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, groupby
from operator import itemgetter

from django.db.models import Count, F, QuerySet

from annotator.agreement.comparing import AS_ANSWERED
from annotator.agreement.entries import Compared, Entry, Frame, empty_entry, many_entry, pair_entry
from annotator.agreement.scales import Choice, Scale
from annotator.screening.models import Screening, Vote
from annotator.stats.reasons import ONE_RATER
from annotator.stats.sets import Answers
from annotator.stats.tables import Table
from annotator.studies.models import Study

ROUND, FACET, TITLE = "screening", "vote", "Screening vote"


def entries(study: Study) -> list[Entry]:
    """Of all the study's screenings, by number."""
    over = Screening.objects.over().filter(study=study).order_by("number")
    return [entry for screening in over for entry in entries_of(screening)]


def entries_of(screening: Screening) -> list[Entry]:
    """Each pair of reviewers, and all together. An open screening gives nothing."""
    votes = blind_votes(screening)
    reviewers = dict(sorted(set(votes.values_list("reviewer__username", "reviewer_id").distinct())))
    if not reviewers:
        return []
    frame, scale = Frame(name_of(screening), None, ROUND, screening.blindness, AS_ANSWERED), _scale()
    read = votes.values("candidate").distinct().count()
    if len(reviewers) == 1:
        alone = Compared(tuple(reviewers), {"unanswered": 0})
        return [empty_entry(frame, scale, alone, n=read, reason=ONE_RATER)]
    found = [_pair(frame, scale, names, votes, reviewers, read) for names in combinations(reviewers, 2)]
    if len(reviewers) > 2:
        found.append(many_entry(frame, scale, list(reviewers), _patterns(votes)))
    return found


def blind_votes(screening: Screening) -> "QuerySet[Vote]":
    votes = Vote.objects.blind().order_by()
    return votes.none() if screening.is_open else votes.filter(candidate__screening=screening)


def name_of(screening: Screening) -> str:
    """What stands for it among the rounds."""
    return ROUND if screening.is_imported else f"{ROUND}: {screening.name}"


def _pair(
    frame: Frame,
    scale: Scale,
    names: tuple[str, str],
    votes: "QuerySet[Vote]",
    reviewers: Mapping[str, int],
    read: int,
) -> Entry:
    table = _table(votes, *(reviewers[name] for name in names))
    return pair_entry(frame, scale, Compared(names, _excluded(read - table.n)), table)


def _excluded(others: int) -> dict[str, int]:
    return {"not_a_bug_both": 0, "not_a_bug_one": 0, "skipped": 0, "unanswered": others}


def _scale() -> Scale:
    choices = tuple(Choice(value, value) for value in Vote.Decision.values)
    return Scale(facet_id=0, key=FACET, name=TITLE, choices=choices, uids={})


def _table(votes: "QuerySet[Vote]", first: int, second: int) -> Table:
    """The second reviewer's vote on the same candidate stands beside the first's."""
    both = votes.filter(reviewer=first).filter(candidate__votes__turn=Vote.BLIND, candidate__votes__reviewer=second)
    rows = both.values("decision", other=F("candidate__votes__decision")).annotate(n=Count("pk"))
    return Table({(row["decision"], row["other"]): row["n"] for row in rows})


def _patterns(votes: "QuerySet[Vote]") -> Counter[tuple[Answers, ...]]:
    rows = votes.order_by("candidate_id").values_list("candidate_id", "decision")
    found: Counter[tuple[Answers, ...]] = Counter()
    for _, of_candidate in groupby(rows.iterator(chunk_size=5000), key=itemgetter(0)):
        found[tuple(sorted((frozenset({decision}) for _, decision in of_candidate), key=sorted))] += 1
    return found
