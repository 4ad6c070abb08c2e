"""What follows on a closed round: further bugs that raters noted, and answers that they doubt."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.labeling.models import Assignment, Flag, FurtherBug, Round
from annotator.labeling.opening import open_round
from annotator.sampling.actions import add_bugs
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from annotator.web.texts import check_text


@transaction.atomic
def follow_further_bug(*, noted: FurtherBug, by: User) -> Bug:
    """Make the noted bug a bug of its own, to be labelled by all raters in a later round."""
    noted = (
        FurtherBug.objects.select_for_update(of=("self",)).select_related("assignment__round__study").get(pk=noted.pk)
    )
    if noted.assignment.round.is_open:
        raise Refused("Notes of further bugs are matched after the round has closed.")
    if noted.state != FurtherBug.State.NEW:
        raise Refused("This note was decided already.")
    study = Study.objects.select_for_update().get(pk=noted.assignment.round.study_id)
    origin = noted.assignment.bug
    ordinal = Bug.objects.filter(item=origin.item_id).aggregate(last=Max("ordinal"))["last"] + 1
    (bug,) = add_bugs(study=study, places=[(origin.item, ordinal)], by=by)
    noted.state, noted.bug = FurtherBug.State.MATCHED, bug
    noted.save(update_fields=["state", "bug"])
    record(
        "followed a further bug", by=by, kind="bug", object_id=bug.pk, label=str(bug), study_id=study.pk, why=noted.note
    )
    return bug


@transaction.atomic
def match_further_bug(*, noted: FurtherBug, bug: Bug | None, reason: str = "", by: User) -> FurtherBug:
    """Tie the note to a bug that is there already, or refuse it with a reason."""
    noted = FurtherBug.objects.select_for_update(of=("self",)).select_related("assignment__round").get(pk=noted.pk)
    if noted.assignment.round.is_open:
        raise Refused("Notes of further bugs are matched after the round has closed.")
    if noted.state != FurtherBug.State.NEW:
        raise Refused("This note was decided already.")
    if bug is None and not reason.strip():
        raise BadInput("Say why the note is not followed.")
    if bug is not None and bug.item_id != noted.assignment.bug.item_id:
        raise BadInput("That bug belongs to another item.")
    noted.state = FurtherBug.State.MATCHED if bug else FurtherBug.State.REFUSED
    noted.bug, noted.reason = bug, reason
    noted.save(update_fields=["state", "bug", "reason"])
    study_id = noted.assignment.round.study_id
    record(
        "decided on a further bug",
        by=by,
        kind="further bug",
        object_id=noted.pk,
        study_id=study_id,
        new=noted.state,
        why=reason,
    )
    return noted


@transaction.atomic
def flag(*, assignment: Assignment, facet_id: int, reason: str, by: User) -> Flag:
    """A rater doubts an own answer of a closed round. The answer stands; the lead decides on a second look."""
    if assignment.rater_id != by.pk:
        raise Refused("Only the rater who gave the answer can flag it.")
    if assignment.round.is_open:
        raise Refused("The round is still open: change the answer itself.")
    if not reason.strip():
        raise BadInput("Say in a line what is wrong with the answer.")
    check_text(reason)
    Assignment.objects.select_for_update().get(pk=assignment.pk)  # of two at once one is told that it is there
    if Flag.objects.filter(assignment=assignment, facet_id=facet_id, state=Flag.State.NEW).exists():
        raise Refused("You have flagged this answer already.")
    raised = Flag.objects.create(assignment=assignment, facet_id=facet_id, reason=reason.strip()[:4000])
    record("flagged an answer", by=by, kind="flag", object_id=raised.pk, study_id=assignment.round.study_id, why=reason)
    return raised


@transaction.atomic
def refuse_flag(*, raised: Flag, by: User) -> Flag:
    raised = Flag.objects.select_for_update(of=("self",)).select_related("assignment__round").get(pk=raised.pk)
    if raised.state != Flag.State.NEW:
        raise Refused("This flag was decided already.")
    raised.state, raised.decided_by, raised.decided_at = Flag.State.REFUSED, by, timezone.now()
    raised.save(update_fields=["state", "decided_by", "decided_at"])
    study_id = raised.assignment.round.study_id
    record("refused a flag", by=by, kind="flag", object_id=raised.pk, study_id=study_id)
    return raised


@transaction.atomic
def relabel_flagged(*, flags: Sequence[Flag], name: str, by: User) -> Round:
    """Accept the flags: their bugs go, in a relabel round, to the raters who had them."""
    locked = list(
        Flag.objects.select_for_update(of=("self",))
        .filter(pk__in=[raised.pk for raised in flags], state=Flag.State.NEW)
        .select_related("assignment__round__study", "assignment__bug")
    )
    if not locked:
        raise BadInput("Choose at least one open flag.")
    bugs = list({raised.assignment.bug_id: raised.assignment.bug for raised in locked}.values())
    round_ids = {raised.assignment.round_id for raised in locked}
    groups: dict[int, set[int]] = {bug.pk: set() for bug in bugs}
    for bug_id, rater_id in Assignment.objects.filter(
        round__in=round_ids, bug__in=bugs, state=Assignment.State.SUBMITTED
    ).values_list("bug_id", "rater_id"):
        groups[bug_id].add(rater_id)
    opened = open_round(
        study=locked[0].assignment.round.study,
        name=name,
        bugs=bugs,
        raters=list(User.objects.filter(pk__in=set().union(*groups.values())).order_by("username")),
        groups=groups,
        by=by,
        kind=Round.Kind.RELABEL,
        blindness=Round.Blindness.NO,  # the raters could read each other since the close
    )
    for raised in locked:
        raised.state, raised.decided_by, raised.decided_at = Flag.State.ACCEPTED, by, timezone.now()
        raised.relabel_round = opened
        raised.save(update_fields=["state", "decided_by", "decided_at", "relabel_round"])
    return opened
