"""What of a round may be told, and to whom."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from annotator.accounts.models import User
from annotator.labeling.models import Assignment, Round
from annotator.studies.models import Study

State = Assignment.State
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


def progress(round_: Round, *, viewer: User, is_lead: bool) -> list[Progress]:
    """Each rater's progress, where the viewer may know it.

    Of an open round a rater sees the own alone, a lead who does not rate in it sees all,
    everybody else nothing. Afterwards all members see all.
    """
    rows = Assignment.objects.filter(round=round_)
    if round_.is_open and (not is_lead or rates_in(round_, viewer)):
        rows = rows.filter(rater=viewer)
    counts = rows.values("rater").annotate(
        total=Count("pk", filter=~Q(state=State.COVERED)),
        submitted=Count("pk", filter=Q(state=State.SUBMITTED)),
        skipped=Count("pk", filter=Q(state=State.SKIPPED)),
        parked=Count("pk", filter=Q(state=State.PARKED)),
    )
    people = User.objects.in_bulk([row["rater"] for row in counts])
    told = [
        Progress(
            rater=people[row["rater"]],
            total=row["total"],
            submitted=row["submitted"],
            skipped=row["skipped"],
            parked=row["parked"],
        )
        for row in counts
    ]
    return sorted(told, key=lambda one: one.rater.username)


def to_label(study: Study, rater: User) -> int:
    """How many bugs of open rounds wait for this rater: of the rater's own turns alone."""
    waiting = [State.TODO, State.CLAIMED, State.PARKED]
    mine = Assignment.objects.filter(rater=rater, state__in=waiting, round__study=study)
    return mine.filter(round__state=Round.State.OPEN).count()


def open_round_ids(study_id: int) -> list[int]:
    """For leaving out what happened blind in them; see Event.objects.outside_rounds."""
    return list(Round.objects.open().filter(study_id=study_id).values_list("pk", flat=True))
