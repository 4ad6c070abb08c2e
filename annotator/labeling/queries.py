"""What of a round may be told, and to whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from annotator.accounts.models import User
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer, Assignment, Evidence, Round
from annotator.labeling.submission import Chosen, Submission
from annotator.studies.models import Study
from annotator.web.numbers import whole

State = Assignment.State
BLIND_IS_OVER = (Round.State.CLOSED, Round.State.IMPORTED)
DONE = [State.SUBMITTED, State.SKIPPED, State.COVERED]


@dataclass(frozen=True)
class Progress:
    """How far one rater is in a round."""

    rater: User
    total: int
    submitted: int
    skipped: int
    parked: int

    @property
    def left(self) -> int:
        return self.total - self.submitted - self.skipped


def rates_in(round_: Round, user: Any) -> bool:
    """Rating beats leading: who has an assignment in an open round sees it as a rater."""
    return Assignment.objects.filter(round=round_, rater=user).exists()


def rated_together(one: User, other: User) -> Round | None:
    """An open round, of any study, in which both rate."""
    open_ = Round.objects.open().filter(Exists(Assignment.objects.filter(round=OuterRef("pk"), rater=one)))
    return open_.filter(Exists(Assignment.objects.filter(round=OuterRef("pk"), rater=other))).order_by("pk").first()


def rated_by(user: User, rounds: Sequence[Round]) -> set[int]:
    """The ids of those of the rounds in which the person has an assignment."""
    return set(Assignment.objects.filter(round__in=rounds, rater=user).values_list("round_id", flat=True).distinct())


def progress(round_: Round, *, viewer: User, is_lead: bool) -> list[Progress]:
    """Each rater's progress, where the viewer may know it.

    Of an open round a rater sees the own alone, a lead who does not rate in it sees all,
    everybody else nothing. Afterwards all members see all.
    """
    return progress_by_round([round_], viewer=viewer, is_lead=is_lead)[round_.pk]


def progress_by_round(rounds: Sequence[Round], *, viewer: User, is_lead: bool) -> dict[int, list[Progress]]:
    """The same for many rounds, by id. Three queries, whatever their number."""
    mine = rated_by(viewer, rounds)
    own_alone = [one.pk for one in rounds if one.is_open and (not is_lead or one.pk in mine)]
    rows = Assignment.objects.filter(round__in=rounds).wanted().exclude(Q(round__in=own_alone) & ~Q(rater=viewer))
    counts = rows.values("round", "rater").annotate(
        total=Count("pk", filter=~Q(state=State.COVERED)),
        submitted=Count("pk", filter=Q(state=State.SUBMITTED)),
        skipped=Count("pk", filter=Q(state=State.SKIPPED)),
        parked=Count("pk", filter=Q(state=State.PARKED)),
    )
    people = User.objects.in_bulk({row["rater"] for row in counts})
    told: dict[int, list[Progress]] = {one.pk: [] for one in rounds}
    for row in counts:
        numbers = {name: row[name] for name in ("total", "submitted", "skipped", "parked")}
        told[row["round"]].append(Progress(people[row["rater"]], **numbers))
    return {round_id: sorted(lines, key=lambda one: one.rater.username) for round_id, lines in told.items()}


def to_label(study: Study, rater: User) -> int:
    """How many bugs of open rounds wait for this rater: of the rater's own turns alone."""
    waiting = [State.TODO, State.CLAIMED, State.PARKED]
    mine = Assignment.objects.filter(rater=rater, state__in=waiting, round__study=study)
    return mine.filter(round__state=Round.State.OPEN).wanted().count()


def round_named(study: Study, name: str) -> Round | None:
    """By number or name; a number wins."""
    rounds = Round.objects.filter(study=study)
    number = whole(name)
    by_number = rounds.filter(number=number).first() if number is not None else None
    return by_number or rounds.filter(name=name).first()


def rounds_with_denials(study: Study) -> list[int]:
    """Rounds that are over in which someone said that a bug is none; in others the verdict says nothing."""
    said = Answer.objects.current().filter(round__study=study, round__state__in=BLIND_IS_OVER)
    denied = said.filter(facet__key=Facet.VERDICT, category__name=Category.NOT_A_BUG)
    return list(denied.order_by().values_list("round", flat=True).distinct())


def plain_verdicts(denied: Sequence[int]) -> Q:
    """Of answers: the word *bug* where nobody said otherwise. Tables and lists leave it out."""
    is_said = Q(round__in=denied) | Q(round__state=Round.State.OPEN, category__name=Category.NOT_A_BUG)
    return Q(facet__key=Facet.VERDICT) & ~is_said


def open_round_ids(study_id: int) -> list[int]:
    """For leaving out what happened blind in them; see Event.objects.outside_rounds."""
    return list(Round.objects.open().filter(study_id=study_id).values_list("pk", flat=True))


def stands(assignment: Assignment, submission: Submission, *, rows: Sequence[Chosen], reason: str) -> bool:
    """Whether the rater's current revision says all that is sent: the same answers, reason, confidence, note and pins."""
    if assignment.state != State.SUBMITTED:
        return False
    said = (assignment.not_a_bug_reason, assignment.confidence, assignment.note)
    if said != (reason, submission.confidence, submission.note):
        return False
    answers = Answer.objects.filter(assignment=assignment, is_current=True).values_list("facet_id", "category_id")
    if set(answers) != {(facet, category) for facet, category, _ in rows}:
        return False
    pins = Evidence.objects.filter(assignment=assignment, is_current=True).order_by("position")
    sent = [(pin.kind, pin.anchor[:200], pin.place[:500], pin.quote[:2000]) for pin in submission.pins]
    return list(pins.values_list("kind", "anchor", "place", "quote")) == sent
