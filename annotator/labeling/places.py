"""Places at bugs: which bug a rater has next, and in a pool the hold on it. The last place goes to exactly one rater."""

import datetime as dt

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotator.accounts.models import User
from annotator.labeling.models import Assignment, AssignmentQuerySet, Round, RoundBug

State = Assignment.State


def next_for(round_: Round, rater: User, *, rows: AssignmentQuerySet | None = None) -> Assignment | None:
    """The rater's next bug, claimed where the round is an open pool; None when nothing is left for now.

    `rows` says what comes along with it, such as the bug's item; in a pool nothing does.
    """
    if round_.design == Round.Design.POOL and round_.is_open:
        return claim_next(round_=round_, rater=rater)
    mine = (Assignment.objects.all() if rows is None else rows).filter(round=round_, rater=rater).wanted()
    return (
        mine.filter(state=State.TODO).order_by("position").first()
        or mine.filter(state=State.PARKED).order_by("position").first()
    )


@transaction.atomic
def claim_next(*, round_: Round, rater: User) -> Assignment | None:
    """Take a place at the first bug that has one free. The last place goes to exactly one rater."""
    share_round(round_.pk)
    if not Round.objects.open().filter(pk=round_.pk).exists():
        return None
    mine = Assignment.objects.filter(round=round_, rater=rater).wanted()
    now = timezone.now()
    held = mine.filter(state=State.CLAIMED).order_by("position").first()
    if held and held.lease_until and held.lease_until > now:
        return held
    release_expired(round_=round_, now=now)
    free = mine.filter(
        state=State.TODO, bug__round_bugs__round=round_, bug__round_bugs__taken__lt=F("bug__round_bugs__overlap")
    )
    for candidate in free.order_by("position")[:50]:
        if take_place(round_.pk, candidate.bug_id):
            candidate.state = State.CLAIMED
            candidate.lease_until = now + round_.lease
            candidate.save(update_fields=["state", "lease_until"])
            return candidate
    return mine.filter(state=State.PARKED).order_by("position").first()


def share_round(round_id: int) -> None:
    """Share the round's row with other raters and shut out the close."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM labeling_round WHERE id = %s FOR SHARE", [round_id])


def take_place(round_id: int, bug_id: int) -> bool:
    """The race is lost here: a conditional update under the row's check constraint."""
    places = RoundBug.objects.filter(round_id=round_id, bug_id=bug_id, taken__lt=F("overlap"))
    return places.update(taken=F("taken") + 1) == 1


def free_place(round_id: int, bug_id: int) -> None:
    RoundBug.objects.filter(round_id=round_id, bug_id=bug_id, taken__gt=0).update(taken=F("taken") - 1)


@transaction.atomic
def release_expired(*, round_: Round, now: dt.datetime) -> int:
    """Give back the places whose lease is over; drafts stay with their owners."""
    lapsed = Assignment.objects.filter(round=round_, state=State.CLAIMED, lease_until__lte=now)
    count = 0
    for assignment in lapsed.select_for_update():
        is_mine = Assignment.objects.filter(pk=assignment.pk, state=State.CLAIMED, lease_until__lte=now)
        if is_mine.update(state=State.TODO, lease_until=None):
            free_place(round_.pk, assignment.bug_id)
            count += 1
    return count
