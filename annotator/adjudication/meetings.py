"""Meeting mode: the raters sit together, and who is there is ticked once."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.adjudication import deciding
from annotator.adjudication.deciding import Source
from annotator.adjudication.models import Resolution
from annotator.adjudication.positions import Positions
from annotator.codebook.models import Category, Facet
from annotator.history.actions import record
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Session, Study
from annotator.web.errors import BadInput, Refused


@transaction.atomic
def start_meeting(*, study: Study, participants: Sequence[User], by: User) -> Session:
    """One meeting of a study at a time. Whoever starts it need not take part."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    if live_meeting(study):
        raise Refused("A meeting of this study is going on. End it before another starts.")
    chosen = {person.pk: person for person in participants}
    members = set(Membership.objects.filter(study=study, user__in=chosen).values_list("user", flat=True))
    if len(chosen) < 2 or members != set(chosen):
        raise BadInput("Tick at least two members of the study who take part.")
    meeting = Session.objects.create(study=study, kind=Session.Kind.CONSENSUS, started_by=by)
    meeting.participants.set(chosen)
    names = sorted(person.username for person in chosen.values())
    _record("started a meeting", meeting, by=by, new={"participants": names})
    return meeting


def live_meeting(study: Study) -> Session | None:
    return Session.objects.filter(study=study, kind=Session.Kind.CONSENSUS, ended_at=None).first()


@transaction.atomic
def end_meeting(*, meeting: Session, by: User, notes: str = "") -> Session:
    notes = deciding.check_words(notes)
    meeting = Session.objects.select_for_update().get(pk=meeting.pk)
    if meeting.ended_at:
        raise Refused("This meeting has ended already.")
    meeting.ended_at, meeting.notes = timezone.now(), notes
    meeting.save(update_fields=["ended_at", "notes"])
    _record("ended a meeting", meeting, by=by, why=notes)
    return meeting


@transaction.atomic
def decide_together(
    *,
    meeting: Session,
    bug: Bug,
    facet: Facet,
    categories: Sequence[Category],
    confirmed: bool,
    by: User,
    note: str = "",
) -> list[Resolution]:
    """Settle a dispute as *discussed*: every rater of the bug takes part in the meeting and confirms the label."""
    note = deciding.check_words(note)
    bug = _ready(meeting, bug, facet)
    basis = _all_present(meeting, bug)
    label = deciding.check_label(facet, categories)
    if not confirmed:
        raise BadInput("Ask each rater of the bug, then tick that all of them confirm the label.")
    return deciding.store(
        bug,
        facet,
        label,
        source=Source.DISCUSSED,
        basis=basis.round,
        by=by,
        verb="decided in a meeting",
        note=note,
        session=meeting,
        participants=_names(meeting),
    )


@transaction.atomic
def not_a_bug_together(
    *, meeting: Session, bug: Bug, facet: Facet, confirmed: bool, by: User, note: str = ""
) -> list[Resolution]:
    """Settle the dispute on a facet by the verdict: all confirm that it is no bug."""
    bug = _ready(meeting, bug, facet)
    verdict = Facet.objects.get(codebook__study=bug.study_id, key=Facet.VERDICT)
    label = list(Category.objects.filter(facet=verdict, name=Category.NOT_A_BUG))
    basis = _all_present(meeting, bug)
    if not confirmed:
        raise BadInput("Ask each rater of the bug, then tick that all of them confirm the label.")
    return deciding.store(
        bug,
        verdict,
        deciding.check_label(verdict, label),
        source=Source.DISCUSSED,
        basis=basis.round,
        by=by,
        verb="decided in a meeting",
        note=deciding.check_words(note),
        session=meeting,
        participants=_names(meeting),
    )


@transaction.atomic
def leave_open_together(*, meeting: Session, bug: Bug, facet: Facet, by: User, note: str = "") -> list[Resolution]:
    """The meeting cannot settle it."""
    bug = _ready(meeting, bug, facet)
    basis = _all_present(meeting, bug)
    return deciding.store(
        bug,
        facet,
        [],
        source=Source.UNRESOLVED,
        basis=basis.round,
        by=by,
        verb="left open in a meeting",
        note=deciding.check_words(note),
        session=meeting,
        participants=_names(meeting),
    )


def decided_in(meeting: Session) -> QuerySet[Bug]:
    """Bugs on which the meeting has decided something."""
    made = Resolution.objects.current().filter(session=meeting, bug=OuterRef("pk"))
    return Bug.objects.filter(Exists(made), study=meeting.study_id)


def absent(meeting: Session, positions: Positions) -> list[User]:
    """Raters of the bug who do not take part."""
    there = set(meeting.participants.values_list("pk", flat=True))
    return [rater for rater in positions.raters if rater.pk not in there]


def _ready(meeting: Session, bug: Bug, facet: Facet) -> Bug:
    bug = deciding.lock(bug)
    if meeting.study_id != bug.study_id or Session.objects.filter(pk=meeting.pk, ended_at=None).first() is None:
        raise Refused("This meeting has ended. Start another to go on.")
    deciding.positions_for(bug)
    deciding.refuse_protocol(bug, "discussion")
    deciding.open_dispute(bug, facet)
    return bug


def _all_present(meeting: Session, bug: Bug) -> Positions:
    positions = deciding.positions_for(bug)
    missing = absent(meeting, positions)
    if missing:
        raise Refused(
            f"{missing[0]} rated this bug and is not in the meeting. "
            "Leave it for another meeting, or for an adjudicator who did not rate it."
        )
    return positions


def _names(meeting: Session) -> list[str]:
    return sorted(meeting.participants.values_list("username", flat=True))


def _record(verb: str, meeting: Session, *, by: User, new: object = None, why: str = "") -> None:
    record(
        verb,
        by=by,
        kind="session",
        object_id=meeting.pk,
        label=str(meeting),
        study_id=meeting.study_id,
        new=new,
        why=why,
    )
