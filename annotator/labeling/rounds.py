"""Rounds as their pages show them. Of an open round nobody reads here what another did, but for progress."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotator.accounts.models import User
from annotator.labeling.models import Assignment, Flag, FurtherBug, Round, RoundBug
from annotator.labeling.queries import Progress, progress_by_round, rated_by, rates_in
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Role, Study
from annotator.studies.protocol import protocol_of

State = Assignment.State


@dataclass(frozen=True)
class Line:
    """A round in the list."""

    round: Round
    bugs: int
    progress: list[Progress]
    is_mine: bool


@dataclass(frozen=True)
class Skipped:
    """A bug that its rater gave back."""

    turn: Assignment
    free: list[User]  # raters who could take it

    @property
    def id(self) -> str:
        """For the page: unique there, without a key of the database."""
        return f"{self.turn.bug.number}-{self.turn.rater.username}"


@dataclass(frozen=True)
class Noted:
    """A further bug that a rater noted; `place` tells notes of one turn apart."""

    note: FurtherBug
    place: int
    siblings: list[int]  # numbers of the item's other bugs

    @property
    def id(self) -> str:
        return f"{self.note.assignment.bug.number}-{self.note.assignment.rater.username}-{self.place}"


def lines(study: Study, *, viewer: User, is_lead: bool) -> list[Line]:
    """All rounds, the latest first."""
    rounds = list(Round.objects.filter(study=study).order_by("-number"))
    sizes, mine = bug_counts(study), rated_by(viewer, rounds)
    told = progress_by_round(rounds, viewer=viewer, is_lead=is_lead)
    return [Line(one, sizes.get(one.pk, 0), told[one.pk], one.pk in mine) for one in rounds]


def bug_counts(study: Study) -> dict[int, int]:
    """Bugs by round."""
    counted = RoundBug.objects.filter(round__study=study).values("round").annotate(count=Count("pk"))
    return dict(counted.values_list("round", "count"))


def leads_blind(round_: Round, viewer: User, *, is_lead: bool) -> bool:
    """A lead who does not rate in the round, or anybody once it is no longer open."""
    return not round_.is_open or (is_lead and not rates_in(round_, viewer))


def skipped(round_: Round) -> list[Skipped]:
    """Bugs that were given back and are not answered by as many raters as they want."""
    turns = Assignment.objects.filter(round=round_, state=State.SKIPPED, bug__round_bugs__round=round_)
    turns = turns.select_related("bug__item__repository", "rater").order_by("bug__number", "rater__username")
    raters = list(User.objects.filter(pk__in=_raters(round_.study_id)).order_by("username"))
    takers: dict[int, set[int]] = {}
    for bug_id, rater_id in Assignment.objects.filter(
        round=round_, bug__in=[turn.bug_id for turn in turns]
    ).values_list("bug_id", "rater_id"):
        takers.setdefault(bug_id, set()).add(rater_id)
    return [Skipped(turn, [rater for rater in raters if rater.pk not in takers[turn.bug_id]]) for turn in turns]


def _raters(study_id: int) -> Sequence[int]:
    return list(Membership.objects.filter(study=study_id, role=Role.RATER).values_list("user_id", flat=True))


def further(round_: Round) -> list[Noted]:
    """Notes of a round that is no longer open, the undecided first."""
    if round_.is_open:
        return []
    rows = FurtherBug.objects.filter(assignment__round=round_).order_by("pk")
    notes = list(rows.select_related("assignment__bug__item__repository", "assignment__rater", "bug"))
    numbers = _numbers_by_item({note.assignment.bug.item_id for note in notes})
    places: Counter[int] = Counter()
    found = []
    for note in notes:
        bug = note.assignment.bug
        places[note.assignment_id] += 1
        siblings = [number for number in numbers[bug.item_id] if number != bug.number]
        found.append(Noted(note, places[note.assignment_id], siblings))
    return sorted(found, key=lambda noted: noted.note.state != FurtherBug.State.NEW)


def _numbers_by_item(items: set[int]) -> dict[int, list[int]]:
    numbers: dict[int, list[int]] = {}
    for item, number in Bug.objects.filter(item__in=items).order_by("number").values_list("item_id", "number"):
        numbers.setdefault(item, []).append(number)
    return numbers


def hides_names(study: Study, roles: frozenset[str]) -> bool:
    """Whether the viewer decides on what raters differ on, and is not to know whose answer is whose."""
    return Role.ADJUDICATOR in roles and protocol_of(study).hide_names


def flags(round_: Round) -> list[Flag]:
    """Doubts of raters about own answers of the closed round, the undecided first."""
    rows = Flag.objects.filter(assignment__round=round_).select_related(
        "assignment__bug__item__repository", "assignment__rater", "facet", "relabel_round"
    )
    return sorted(rows.order_by("pk"), key=lambda flag: flag.state != Flag.State.NEW)
