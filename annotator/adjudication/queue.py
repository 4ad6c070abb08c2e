"""Which disputes wait, the most contentious first."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, IntegerField, Max, OuterRef, Q, QuerySet, Value, When

from annotator.accounts.models import User
from annotator.adjudication.models import Dispute, Resolution, Stand
from annotator.adjudication.queries import FINAL_KINDS, final_rounds
from annotator.collection.models import Repository
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.studies.models import Role, Study
from annotator.web.numbers import whole

PAGE = 100
OPEN, CONCEDED, SETTLED = "open", "conceded", "settled"
STATES = {
    OPEN: "Open",
    CONCEDED: "Conceded by a rater",
    "discussed": "Discussed",
    "adjudicated": "Adjudicated",
    "majority": "By majority",
    "unresolved": "Left open",
    SETTLED: "All that is settled",
}


@dataclass(frozen=True)
class Filters:
    """What of the queue is asked for; empty means all."""

    facet: str = ""
    round: str = ""
    repository: str = ""
    state: str = OPEN

    @property
    def is_narrowed(self) -> bool:
        return bool(self.facet or self.round or self.repository or self.state != OPEN)


@dataclass(frozen=True)
class Row:
    """A bug in the queue."""

    number: int
    reference: str
    title: str
    facets: tuple[str, ...]
    first_facet: str  # key
    is_sure: bool
    conceded: int  # on how many of the facets a rater has accepted another's label
    waits: bool  # it is being labelled again

    @property
    def is_conceded(self) -> bool:
        """On every facet."""
        return self.conceded == len(self.facets)


@dataclass(frozen=True)
class Numbers:
    disputes: int
    bugs: int
    rated: int  # bugs among them that the viewer rated, or is to rate


@dataclass(frozen=True)
class Choices:
    """What the queue can be narrowed by."""

    facets: tuple[tuple[str, str], ...]
    rounds: tuple[tuple[str, str], ...]
    repositories: tuple[str, ...]
    open_rounds: tuple[str, ...]  # names: nothing is told of them


def disputes(study: Study, filters: Filters) -> QuerySet[Dispute]:
    rows = Dispute.objects.filter(study=study, is_current=True)
    if filters.facet:
        rows = rows.filter(facet__key=filters.facet)
    if filters.round:
        number = whole(filters.round)
        rows = rows.none() if number is None else rows.filter(round__number=number)
    if filters.repository:
        rows = rows.filter(bug__item__repository__label=filters.repository)
    return _in_state(rows, filters.state)


def _in_state(rows: QuerySet[Dispute], state: str) -> QuerySet[Dispute]:
    if state in (OPEN, CONCEDED):
        rows = rows.filter(is_open=True, bug__left_at=None)
        return rows.filter(Exists(_concession())) if state == CONCEDED else rows
    rows = rows.filter(is_open=False)
    if state == SETTLED:
        return rows
    made = Resolution.objects.current().filter(bug=OuterRef("bug"), facet=OuterRef("facet"), source=state)
    return rows.filter(Exists(made))


def _concession() -> QuerySet[Stand]:
    accepted = Stand.objects.filter(is_current=True, move=Stand.Move.ACCEPT)
    return accepted.filter(bug=OuterRef("bug"), facet=OuterRef("facet"))


def rated_by(person: User) -> Q:
    """Of disputes: the person answered the bug, or is to answer it in an open round."""
    mine = Assignment.objects.filter(bug=OuterRef("bug"), rater=person, round__state=Round.State.OPEN)
    due = mine.exclude(state__in=[Assignment.State.SKIPPED, Assignment.State.COVERED])
    return Q(Exists(Answer.objects.filter(bug=OuterRef("bug"), rater=person))) | Q(Exists(due))


def relabelled() -> Exists:
    """Of disputes: the bug is in an open round that will make its final labels."""
    return Exists(
        RoundBug.objects.filter(bug=OuterRef("bug"), round__state=Round.State.OPEN, round__kind__in=FINAL_KINDS)
    )


def in_order(rows: QuerySet[Dispute]) -> list[int]:
    """Bug numbers: most facets in dispute first, then where all were sure, then by the distance of the labels.

    What is settled of a bug counts along, so a bug keeps its place while its facets are settled one by one.
    """
    sure = Case(When(is_sure=True, then=Value(1)), default=Value(0), output_field=IntegerField())
    whole_bugs = Dispute.objects.filter(is_current=True, bug__in=rows.order_by().values("bug"))
    ranked = whole_bugs.order_by().values("bug__number").annotate(n=Count("pk"), sure=Max(sure), far=Max("distance"))
    return list(ranked.order_by("-n", "-sure", "-far", "bug__number").values_list("bug__number", flat=True))


def decidable_by(people: Sequence[User]) -> Q:
    """Of disputes: everyone who answered the bug is among these people, and nobody labels it again."""
    others = Answer.objects.current().filter(bug=OuterRef("bug"), round=OuterRef("round")).exclude(rater__in=people)
    return ~Q(Exists(others)) & ~Q(relabelled())


def undecided(study: Study, viewer: User, filters: Filters | None = None) -> QuerySet[Dispute]:
    """Without those that the viewer may not decide and those being labelled again."""
    return disputes(study, filters or Filters()).exclude(rated_by(viewer)).exclude(relabelled())


def to_decide(study: Study, filters: Filters, *, viewer: User) -> list[int]:
    """Bug numbers in order, of what the viewer may decide."""
    return in_order(undecided(study, viewer, filters))


def rows_of(study: Study, filters: Filters, numbers: Sequence[int]) -> list[Row]:
    """The queue's lines for these bugs, in their order."""
    found: dict[int, list[Any]] = defaultdict(list)
    wanted = (
        disputes(study, filters)
        .filter(bug__number__in=numbers)
        .annotate(waits=relabelled(), is_conceded=Exists(_concession()))
    )
    for dispute in wanted.select_related("facet", "bug__item__repository").order_by("facet__position", "facet"):
        found[dispute.bug.number].append(dispute)
    return [_row(found[number]) for number in numbers if number in found]


def _row(group: list[Any]) -> Row:
    bug: Bug = group[0].bug
    return Row(
        number=bug.number,
        reference=bug.item.reference,
        title=bug.item.title or bug.item.reference,
        facets=tuple(dispute.facet.name for dispute in group),
        first_facet=group[0].facet.key,
        is_sure=any(dispute.is_sure for dispute in group),
        conceded=sum(dispute.is_conceded for dispute in group),
        waits=any(dispute.waits for dispute in group),
    )


def numbers(study: Study, viewer: User) -> Numbers:
    rows = Dispute.objects.filter(study=study, is_open=True, bug__left_at=None)
    counts = rows.aggregate(disputes=Count("pk"), bugs=Count("bug", distinct=True))
    rated = rows.filter(rated_by(viewer)).aggregate(bugs=Count("bug", distinct=True))
    return Numbers(counts["disputes"], counts["bugs"], rated["bugs"])


def own(study: Study, rater: User, *, state: str = OPEN) -> QuerySet[Dispute]:
    """The rater's own disputes: of bugs that she answered in the round of the dispute."""
    answered = Answer.objects.current().filter(bug=OuterRef("bug"), round=OuterRef("round"), rater=rater)
    return disputes(study, Filters(state=state)).filter(Exists(answered))


def own_waiting(study: Study, rater: User) -> QuerySet[Dispute]:
    """Those on which her move is due: she has not moved, or another has proposed a label since."""
    here = Stand.objects.filter(bug=OuterRef("bug"), facet=OuterRef("facet"), is_current=True)
    proposed = here.filter(move=Stand.Move.PROPOSE, pk__gt=OuterRef("pk")).exclude(rater=rater)
    return own(study, rater).exclude(Exists(here.filter(~Exists(proposed), rater=rater))).exclude(relabelled())


def due_on(bug: Bug, rater: User) -> list[str]:
    """Keys of the bug's facets on which the rater's move is due, in the order of the codebook."""
    rows = own_waiting(bug.study, rater).filter(bug=bug).order_by("facet__position", "facet")
    return list(rows.values_list("facet__key", flat=True))


def following(number: int, *, order: Sequence[int], left: Sequence[int]) -> int:
    """The bug itself while it is left, else the next that is, going round at the end; 0 where none is."""
    if number in left:
        return number
    place = order.index(number) + 1 if number in order else 0
    return next((other for other in [*order[place:], *order[:place], *left] if other in left), 0)


def waiting(study: Study, user: User, roles: Iterable[str]) -> int:
    """What waits for this person: the navigation's number. One or two indexed counts."""
    total = 0
    if Role.ADJUDICATOR in roles:
        total += bugs_in(undecided(study, user))
    if Role.RATER in roles:
        total += bugs_in(own_waiting(study, user))
    return total


def bugs_in(rows: QuerySet[Dispute]) -> int:
    count: int = rows.aggregate(n=Count("bug", distinct=True))["n"]
    return count


def choices(study: Study) -> Choices:
    current = Dispute.objects.filter(study=study, is_current=True)
    facets = current.order_by("facet__position", "facet__key").values_list("facet__key", "facet__name").distinct()
    rounds = current.order_by("round__number").values_list("round__number", "round__name").distinct()
    in_dispute = current.values("bug__item__repository")
    labels = Repository.objects.filter(pk__in=in_dispute).order_by("label").values_list("label", flat=True)
    still_open = Round.objects.open().filter(study=study).order_by("number").values_list("name", flat=True)
    return Choices(
        facets=tuple(facets),
        rounds=tuple((str(number), name) for number, name in rounds),
        repositories=tuple(labels[:500]),
        open_rounds=tuple(still_open),
    )


def own_bugs(study: Study, rater: User) -> QuerySet[Bug]:
    """Bugs that the rater answered in a round that is no longer open."""
    answered = Answer.objects.current().filter(bug=OuterRef("pk"), round__in=final_rounds(study), rater=rater)
    return Bug.objects.filter(Exists(answered), study=study)
