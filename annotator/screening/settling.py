"""Decisions that the blind votes of a screening make by its rule, all at once."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.screening.rules import EXCLUDE, INCLUDE, decided, ground
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows

BATCH = 500
COLUMNS = ("candidate_id", "decision", "source", "criterion_id")


class Counted(NamedTuple):
    """In the order of COLUMNS."""

    candidate_id: int
    decision: str
    source: str
    criterion_id: int | None


def counted_by_rule(screening: Screening, candidates: "QuerySet[Candidate]") -> Iterator[Counted]:
    """What the votes on these candidates decide; those that have to be discussed are left out."""
    order = criteria_in_order(screening.study_id)
    votes = Vote.objects.blind().filter(candidate__in=candidates)
    cited: dict[int, list[int]] = {}
    for candidate, criterion in votes.exclude(criterion=None).values_list("candidate", "criterion"):
        cited.setdefault(candidate, []).append(criterion)
    wanted = wanted_votes(screening, candidates)
    tally = (
        votes.order_by("candidate")
        .values_list("candidate")
        .annotate(includes=Count("pk", filter=Q(decision=INCLUDE)), excludes=Count("pk", filter=Q(decision=EXCLUDE)))
    )
    for candidate, includes, excludes in tally:
        full = wanted.get(candidate, includes + excludes)
        found = decided(screening.rule, includes=includes, excludes=excludes, wanted=full)
        if found:
            reason = ground(cited.get(candidate, ()), order) if found[0] == EXCLUDE else None
            yield Counted(candidate, *found, reason)


def criteria_in_order(study_id: int) -> list[int]:
    return list(Criterion.objects.filter(study=study_id).values_list("pk", flat=True))


def wanted_votes(screening: Screening, candidates: "QuerySet[Candidate]") -> dict[int, int]:
    """How many were to read each candidate. A sheet does not say: there whoever voted."""
    if screening.is_imported:
        return {}
    dealt = Reading.objects.filter(candidate__in=candidates).order_by().values_list("candidate")
    return dict(dealt.annotate(n=Count("pk")))


def settle_at_close(screening: Screening, *, by_id: int | None) -> int:
    """Write what the rule decides. Returns how many candidates that are."""
    rows = counted_by_rule(screening, Candidate.objects.filter(screening=screening))
    return insert_rows(Outcome, COLUMNS, rows, by_id=by_id)


def settle_imported(study: Study, *, labelled: Collection[int], by_id: int | None) -> None:
    """After a sheet brought votes or bugs, or some were taken back: what follows from what is there now.

    Items in `labelled` are held as bugs, which shows that they are in where votes left it open. What people decided,
    or a sheet said in so many words, stays.
    """
    screening = Screening.objects.filter(study=study, state=Screening.State.IMPORTED).first()
    if screening is None:
        return
    said = Outcome.objects.current().filter(candidate=OuterRef("pk")).exclude(source__in=Outcome.DERIVED)
    free = Candidate.objects.filter(screening=screening).exclude(Exists(said))
    now = {row.candidate_id: row for row in counted_by_rule(screening, free)}
    for candidate, item in free.values_list("pk", "item_id"):
        if candidate not in now and item in labelled:
            now[candidate] = Counted(candidate, INCLUDE, Outcome.Source.LABELLED.value, None)
    current = Outcome.objects.current().filter(candidate__in=free)
    old = {row[1]: (row[0], Counted(*row[1:])) for row in current.values_list("pk", *COLUMNS)}
    supersede([pk for candidate, (pk, row) in old.items() if now.get(candidate) != row])
    new = [row for candidate, row in now.items() if candidate not in old or old[candidate][1] != row]
    insert_rows(Outcome, COLUMNS, new, by_id=by_id)


def supersede(outcomes: Sequence[int]) -> None:
    """They stay, and are current no more."""
    for start in range(0, len(outcomes), BATCH):
        Outcome.objects.filter(pk__in=outcomes[start : start + BATCH]).update(is_current=False)
