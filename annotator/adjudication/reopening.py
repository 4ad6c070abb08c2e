"""A settled bug looked at again by one of its raters: a second pass beside the blind answer, which stays."""

from django.db import transaction
from django.db.models import Q

from annotator.accounts.models import User
from annotator.adjudication import deciding, settling
from annotator.adjudication.models import Resolution, Stand
from annotator.history.actions import record
from annotator.labeling.models import Round
from annotator.labeling.opening import open_round
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused


@transaction.atomic
def reopen_for(*, bug: Bug, rater: User, reason: str, by: User) -> Round:
    """Open a relabel round of this bug for this rater. What people had decided on it becomes stale.

    The decision returns to the queue; the new answer is a second pass, so the blind numbers stay.
    """
    reason = deciding.check_words(reason)
    if not reason:
        raise BadInput("Say why the bug is opened again.")
    Study.objects.select_for_update().get(pk=bug.study_id)  # as opening a round does, which would come too late
    bug = deciding.lock(bug)
    positions = deciding.positions_for(bug)
    if rater not in positions.raters:
        raise Refused(f"{rater.username} did not rate this bug in {positions.round.name}.")
    decided = Resolution.objects.current().filter(bug=bug, source__in=deciding.BY_PEOPLE)
    decided.update(is_stale=True)
    Stand.objects.filter(bug=bug, is_current=True).update(is_current=False)
    opened = open_round(
        study=bug.study,
        name=_name(bug),
        bugs=[bug],
        raters=[rater],
        by=by,
        kind=Round.Kind.RELABEL,
        blindness=Round.Blindness.NO,
    )
    settling.reopen_stale(bug.study_id)
    new = {"bug": bug.number, "round": opened.number}  # the round says whose turn it is, to those who may know
    record(
        "opened a bug again",
        by=by,
        kind="bug",
        object_id=bug.pk,
        label=str(bug),
        study_id=bug.study_id,
        new=new,
        why=reason,
    )
    return opened


def _name(bug: Bug) -> str:
    """Without the rater: everybody reads it, also who decides on the bug without knowing its raters."""
    stem = f"Second look at {bug}"
    taken = Round.objects.filter(Q(name=stem) | Q(name__startswith=f"{stem} ("), study=bug.study_id).count()
    return f"{stem} ({taken + 1})" if taken else stem
