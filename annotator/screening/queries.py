"""What screening tells the stages behind it, and what may be told to whom.

For sampling and the flow from found to released:

`included(study)`        the items that are in; where a study has no screening at all, every item
`counts(study)`          how many candidates there are and what became of them, with reasons; see Counts
`candidates(study, what)` the candidates behind one of these counts
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, TextField, Value, When

from annotator.accounts.models import User
from annotator.collection.models import Item
from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.studies.models import Study

INCLUDE, EXCLUDE = Vote.Decision.INCLUDE, Vote.Decision.EXCLUDE
NO_REASON = "no criterion given"


@dataclass(frozen=True)
class Counts:
    """What became of the candidates. Of an open screening only their number is known to anyone.

    candidates = reading + unread + conflict + total of excluded + included; included = kept + total of dropped.
    """

    items: int = 0  # of the study, candidates or not
    candidates: int = 0
    reading: int = 0  # of screenings that are open
    unread: int = 0  # closed without a vote
    conflict: int = 0  # votes that decide nothing, or a decision that was reopened
    excluded: dict[str, int] = field(default_factory=dict)  # by reason, the most frequent first
    included: int = 0
    dropped: dict[str, int] = field(
        default_factory=dict
    )  # was in, left later; by criterion, else by the reason written
    kept: int = 0  # is in

    @property
    def all_excluded(self) -> int:
        return sum(self.excluded.values())

    @property
    def all_dropped(self) -> int:
        return sum(self.dropped.values())

    @property
    def adds_up(self) -> bool:
        decided = self.reading + self.unread + self.conflict + self.all_excluded + self.included
        return self.candidates == decided and self.included == self.kept + self.all_dropped


# --- for the stages behind


def is_screened(study: Study) -> bool:
    """Whether the study screens at all."""
    return Screening.objects.filter(study=study).exists()


def included(study: Study) -> "QuerySet[Item]":
    """The items that are in: decided so and not dropped since. Without any screening that is every item."""
    items = Item.objects.filter(study=study)
    if not is_screened(study):
        return items
    kept = Outcome.objects.current().filter(candidate__study=study, decision=INCLUDE)
    return items.filter(pk__in=kept.values("candidate__item"))


def counts(study: Study, screening: Screening | None = None) -> Counts:
    """Of the whole study, or of one screening; five queries whatever its size."""
    mine = Candidate.objects.filter(study=study)
    mine = mine if screening is None else mine.filter(screening=screening)
    total, reading = mine.count(), mine.filter(screening__state=Screening.State.OPEN).count()
    undecided = undecided_of(mine)
    conflict = undecided.filter(_has_votes()).count()
    decided = _by_reason(Outcome.objects.current().filter(candidate__in=mine))
    excluded, dropped, kept = decided
    return Counts(
        items=Item.objects.filter(study=study).count(),
        candidates=total,
        reading=reading,
        unread=total - reading - conflict - sum(excluded.values()) - sum(dropped.values()) - kept,
        conflict=conflict,
        excluded=excluded,
        included=kept + sum(dropped.values()),
        dropped=dropped,
        kept=kept,
    )


def candidates(study: Study, what: str, *, reason: str = "") -> "QuerySet[Candidate]":
    """The candidates of one count: reading, unread, conflict, excluded, included, dropped or kept; by reason as told."""
    mine = Candidate.objects.filter(study=study)
    if what == "reading":
        return mine.filter(screening__state=Screening.State.OPEN)
    if what == "unread":
        return undecided_of(mine).exclude(_has_votes())
    if what == "conflict":
        return undecided_of(mine).filter(_has_votes())
    decided = Outcome.objects.current().filter(candidate=OuterRef("pk"))
    if what == "kept":
        return mine.filter(Exists(decided.filter(decision=INCLUDE)))
    if what == "included":
        return mine.filter(Exists(decided.filter(Q(decision=INCLUDE) | Q(source=Outcome.Source.DROPPED))))
    out = decided.filter(decision=EXCLUDE)
    is_dropped = Q(source=Outcome.Source.DROPPED)
    out = out.filter(is_dropped) if what == "dropped" else out.exclude(is_dropped)
    return mine.filter(Exists(out.filter(_because(study, reason)) if reason else out))


def undecided_of(mine: "QuerySet[Candidate]") -> "QuerySet[Candidate]":
    """Of screenings that are over."""
    decided = Outcome.objects.current().filter(candidate=OuterRef("pk"))
    return mine.exclude(screening__state=Screening.State.OPEN).exclude(Exists(decided))


def _has_votes() -> Exists:
    return Exists(Vote.objects.filter(candidate=OuterRef("pk")))


def _by_reason(outcomes: "QuerySet[Outcome]") -> tuple[dict[str, int], dict[str, int], int]:
    is_told = When(source=Outcome.Source.DROPPED, criterion=None, then=F("note"))
    why = Case(is_told, default=Value(""), output_field=TextField())
    counted = outcomes.order_by().annotate(why=why).values_list("decision", "source", "criterion", "why")
    rows = list(counted.annotate(n=Count("pk")))
    criteria = Criterion.objects.in_bulk({row[2] for row in rows if row[2]})
    excluded: dict[str, int] = {}
    dropped: dict[str, int] = {}
    kept = 0
    for decision, source, criterion, note, n in rows:
        if decision == INCLUDE:
            kept += n
            continue
        into = dropped if source == Outcome.Source.DROPPED else excluded
        reason = criteria[criterion].ground if criterion else note or NO_REASON
        into[reason] = into.get(reason, 0) + n
    return _most_first(excluded), _most_first(dropped), kept


def _most_first(found: dict[str, int]) -> dict[str, int]:
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _because(study: Study, reason: str) -> Q:
    """Outcomes for the reason that a count names."""
    if reason == NO_REASON:
        return Q(criterion=None)
    named = [one.pk for one in Criterion.objects.filter(study=study) if one.ground == reason]
    return Q(criterion__in=named) | Q(criterion=None, source=Outcome.Source.DROPPED, note=reason)


# --- while a screening is open


@dataclass(frozen=True)
class Progress:
    """How far one reviewer is in a screening."""

    reviewer: User
    total: int
    voted: int
    later: int

    @property
    def left(self) -> int:
        return self.total - self.voted


def progress(screening: Screening, *, viewer: User, is_lead: bool) -> list[Progress]:
    """Each reviewer's progress, where the viewer may know it.

    Of an open screening a reviewer sees the own alone, a lead who does not review in it sees all,
    everybody else nothing. Afterwards all members see all.
    """
    return progress_by_screening([screening], viewer=viewer, is_lead=is_lead)[screening.pk]


def progress_by_screening(screenings: Sequence[Screening], *, viewer: User, is_lead: bool) -> dict[int, list[Progress]]:
    """The same for many, by id; three queries, whatever their number."""
    mine = set(
        Reading.objects.filter(screening__in=screenings, reviewer=viewer).values_list("screening", flat=True).distinct()
    )
    own_alone = [one.pk for one in screenings if one.is_open and (not is_lead or one.pk in mine)]
    rows = Reading.objects.filter(screening__in=screenings).exclude(Q(screening__in=own_alone) & ~Q(reviewer=viewer))
    found = list(
        rows.order_by()
        .values("screening", "reviewer")
        .annotate(
            total=Count("pk"),
            voted=Count("pk", filter=Q(state=Reading.State.VOTED)),
            later=Count("pk", filter=Q(state=Reading.State.LATER)),
        )
    )
    people = User.objects.in_bulk({row["reviewer"] for row in found})
    told: dict[int, list[Progress]] = {one.pk: [] for one in screenings}
    for row in found:
        line = Progress(people[row["reviewer"]], row["total"], row["voted"], row["later"])
        told[row["screening"]].append(line)
    return {pk: sorted(lines, key=lambda one: one.reviewer.username) for pk, lines in told.items()}


def to_screen(study: Study, reviewer: User) -> int:
    """How many candidates of open screenings wait for this reviewer: of the own readings alone."""
    waiting = Reading.objects.filter(reviewer=reviewer, state__in=[Reading.State.TODO, Reading.State.LATER])
    return waiting.filter(screening__study=study, screening__state=Screening.State.OPEN).count()


def open_screening_ids(study_id: int) -> list[int]:
    """For leaving out what happened blind in them; see Event.objects.outside_screenings."""
    return list(Screening.objects.open().filter(study_id=study_id).values_list("pk", flat=True))
