"""What raters and leads do in a round. Each submission takes the round's row first, as the close does."""

import datetime as dt
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from annotator.accounts.actions import end_links_between
from annotator.accounts.models import User
from annotator.codebook.choices import choices_of
from annotator.codebook.queries import present_version
from annotator.history.actions import record
from annotator.labeling import prepared
from annotator.labeling.models import Answer, Assignment, Evidence, FurtherBug, Round, RoundBug
from annotator.labeling.places import free_place, share_round, take_place
from annotator.labeling.proposals import with_codes
from annotator.labeling.queries import stands
from annotator.labeling.submission import Submission, check
from annotator.labeling.suggesting import assisted_in
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Role
from annotator.web.errors import BadInput, Refused
from annotator.web.texts import check_text, check_texts

State = Assignment.State
LONGEST_DRAFT = 60_000
LONGEST_TURN = 4 * 3600  # seconds of active time that one submission may add


# --- the gate


@transaction.atomic
def set_gate(*, round_: Round, coefficient: str, method: str, bound: float, min_n: int, by: User) -> Round:
    """Change the gate until the first submission; who rates in the round never can, so nothing is told by a refusal."""
    round_ = Round.objects.select_for_update(of=("self",)).get(pk=round_.pk)
    _refuse_closed(round_)
    if Assignment.objects.filter(round=round_, rater=by).exists():
        raise Refused("Who rates in a round does not change its gate.")
    if Assignment.objects.filter(round=round_, revision__gt=0).exists():
        raise Refused("The gate stands since the first submission.")
    old = [round_.gate_coefficient, round_.gate_method, round_.gate_bound, round_.gate_min_n]
    round_.gate_coefficient, round_.gate_method = coefficient, method
    round_.gate_bound, round_.gate_min_n = bound, min_n
    round_.save(update_fields=["gate_coefficient", "gate_method", "gate_bound", "gate_min_n"])
    new = [coefficient, method, bound, min_n]
    record(
        "changed a gate",
        by=by,
        kind="round",
        object_id=round_.pk,
        label=round_.name,
        study_id=round_.study_id,
        old=old,
        new=new,
    )
    return round_


# --- answering


@transaction.atomic
def submit(*, assignment: Assignment, submission: Submission, by: User) -> Assignment:
    """Store the rater's answers. The same submission twice counts once; one that changes something is a new revision."""
    round_ = _take_round(assignment.round_id)
    assignment = _own(assignment, by=by)
    if submission.key and submission.key == assignment.submission_key:
        return assignment
    _refuse_closed(round_)
    codebook = round_.study.codebook
    choices = with_codes(choices_of(codebook), round_, assignment.rater_id)
    rows = check(submission, choices)
    now = timezone.now()
    reason = (choices.reason(submission.not_a_bug) or "")[:80] if submission.not_a_bug else ""
    if stands(assignment, submission, rows=rows, reason=reason):
        _mark_submitted(assignment, submission, revision=assignment.revision, now=now)
        return assignment
    helped = submission.assisted | assisted_in(assignment, round_)
    assisted = {facet.id for facet in choices.facets.values() if facet.key in helped}
    _hold_place(assignment, round_)
    revision = assignment.revision + 1
    before = _retire_current(assignment)
    Answer.objects.bulk_create(
        Answer(
            assignment=assignment,
            round_id=assignment.round_id,
            bug_id=assignment.bug_id,
            rater_id=assignment.rater_id,
            facet_id=facet,
            category_id=category,
            slot=slot,
            revision=revision,
            is_assisted=facet in assisted,
            version=codebook.number,
        )
        for facet, category, slot in rows
    )
    _pin(assignment, submission, revision=revision)
    assignment.not_a_bug_reason = reason
    _mark_submitted(assignment, submission, revision=revision, now=now)
    record(
        "answered" if revision == 1 else "changed an answer",
        by=by,
        kind="assignment",
        object_id=assignment.pk,
        study_id=round_.study_id,
        round_id=round_.pk,
        old=before,
        new=[[facet, category] for facet, category, _ in rows],
        why=choices.reasons.get(assignment.not_a_bug_reason, assignment.not_a_bug_reason),
    )
    return assignment


def _take_round(round_id: int) -> Round:
    share_round(round_id)
    found = prepared.ROUND.first(round_=round_id)
    if found is None:
        raise Round.DoesNotExist
    return found


def _own(assignment: Assignment, *, by: User) -> Assignment:
    found = prepared.OWN_FOR_UPDATE.first(turn=assignment.pk, rater=by.pk)
    if found is None:
        raise Refused("This is another rater's turn. Nothing was stored.")
    return found


def _refuse_closed(round_: Round) -> None:
    if not round_.is_open:
        raise Refused("The round is closed: its answers stand. You can flag one of yours for another look.")


def _hold_place(assignment: Assignment, round_: Round) -> None:
    """A place lost by a lapsed lease or given up by a skip has to be free still."""
    lost = assignment.state in (State.SKIPPED, State.COVERED) or (
        assignment.state == State.TODO and round_.design == Round.Design.POOL
    )
    if lost and not take_place(assignment.round_id, assignment.bug_id):
        raise Refused("The place at this bug was given to another rater meanwhile. Your draft is kept.")


def _retire_current(assignment: Assignment) -> list[list[int]] | None:
    if assignment.revision == 0:
        return None
    current = Answer.objects.filter(assignment=assignment, is_current=True)
    before = [list(pair) for pair in current.order_by("facet_id", "slot").values_list("facet_id", "category_id")]
    current.update(is_current=False)
    Evidence.objects.filter(assignment=assignment, is_current=True).update(is_current=False)
    return before


def _pin(assignment: Assignment, submission: Submission, *, revision: int) -> None:
    if submission.pins:
        Evidence.objects.bulk_create(
            Evidence(
                assignment=assignment,
                revision=revision,
                position=place,
                kind=pin.kind,
                anchor=pin.anchor[:200],
                place=pin.place[:500],
                quote=pin.quote[:2000],
            )
            for place, pin in enumerate(submission.pins)
        )


def _mark_submitted(assignment: Assignment, submission: Submission, *, revision: int, now: dt.datetime) -> None:
    assignment.state = State.SUBMITTED
    assignment.submitted_at = assignment.submitted_at or now
    assignment.revision = revision
    assignment.submission_key = submission.key
    assignment.confidence = submission.confidence
    assignment.note = submission.note
    assignment.active_seconds += max(0, min(submission.active_seconds, LONGEST_TURN))
    assignment.skip_reason = assignment.skip_note = ""
    assignment.draft = assignment.draft_at = assignment.lease_until = None
    assignment.save()


@transaction.atomic
def save_draft(*, assignment: Assignment, draft: dict[str, Any], by: User) -> dt.datetime:
    """Keep what is not submitted yet, for its owner alone; also where the place was lost meanwhile."""
    if len(str(draft)) > LONGEST_DRAFT:
        raise BadInput("The draft is larger than can be kept. Shorten the rationale.")
    check_texts(draft)
    share_round(assignment.round_id)
    now = timezone.now()
    if not Assignment.objects.filter(pk=assignment.pk, rater=by, round__state=Round.State.OPEN).update(
        draft=draft, draft_at=now
    ):
        raise Refused("The round is closed, so the draft is kept on this device alone.")
    Assignment.objects.filter(pk=assignment.pk, state=State.CLAIMED).update(lease_until=now + assignment.round.lease)
    return now


@transaction.atomic
def skip(*, assignment: Assignment, reason: str, note: str = "", by: User) -> Assignment:
    """Give the bug back: to the pool, or with fixed raters to the lead."""
    round_ = _take_round(assignment.round_id)
    assignment = _own(assignment, by=by)
    _refuse_closed(round_)
    if not reason:
        raise BadInput("Say why the bug is skipped.")
    if assignment.state == State.SUBMITTED:
        raise Refused("This bug is answered. Change the answer instead of skipping it.")
    if assignment.state == State.SKIPPED:
        return assignment
    check_text(note)
    holds_place = round_.design != Round.Design.POOL or assignment.state in (State.CLAIMED, State.PARKED)
    assignment.state = State.SKIPPED
    assignment.skip_reason, assignment.skip_note = reason[:40], note
    assignment.lease_until = None
    assignment.save(update_fields=["state", "skip_reason", "skip_note", "lease_until"])
    if holds_place:
        free_place(assignment.round_id, assignment.bug_id)
    record(
        "skipped",
        by=by,
        kind="assignment",
        object_id=assignment.pk,
        study_id=round_.study_id,
        round_id=round_.pk,
        new=reason,
        why=note,
    )
    return assignment


@transaction.atomic
def park(*, assignment: Assignment, by: User) -> Assignment:
    """Later: the bug stays with the same rater and comes again when the others are done."""
    round_ = _take_round(assignment.round_id)
    assignment = _own(assignment, by=by)
    _refuse_closed(round_)
    if assignment.state not in (State.TODO, State.CLAIMED):
        return assignment
    _hold_place(assignment, round_)
    assignment.state = State.PARKED
    assignment.lease_until = None
    assignment.save(update_fields=["state", "lease_until"])
    return assignment


@transaction.atomic
def hand_on(*, assignment: Assignment, to: User, by: User) -> Assignment:
    """Give a bug that its rater skipped to another one."""
    round_ = _take_round(assignment.round_id)
    _refuse_closed(round_)
    if assignment.state != State.SKIPPED:
        raise Refused("Only a skipped bug can be handed on.")
    if not Membership.objects.filter(study=round_.study, user=to, role=Role.RATER).exists():
        raise BadInput(f"{to.username} is not a rater of this study.")
    if Assignment.objects.filter(round=round_, bug=assignment.bug_id, rater=to).exists():
        raise BadInput(f"{to.username} has this bug already.")
    Bug.objects.select_for_update(no_key=True).get(pk=assignment.bug_id)  # nobody decides on it in this moment
    if not take_place(round_.pk, assignment.bug_id):
        raise Refused("The bug has all the raters that it wants.")
    end_links_between([to, *User.objects.filter(assignments__round=round_).distinct()])
    last = Assignment.objects.filter(round=round_, rater=to).aggregate(last=Max("position"))["last"]
    given = Assignment.objects.create(
        round=round_, bug_id=assignment.bug_id, rater=to, position=0 if last is None else last + 1
    )
    record(
        "handed on a skipped bug",
        by=by,
        kind="assignment",
        object_id=given.pk,
        study_id=round_.study_id,
        round_id=round_.pk,
        old=assignment.rater.username,
        new=to.username,
    )
    return given


@transaction.atomic
def note_further_bug(*, assignment: Assignment, note: str, by: User) -> FurtherBug:
    """The pull request fixes another bug too: the rater's own note, unseen by others until the close."""
    round_ = _take_round(assignment.round_id)
    assignment = _own(assignment, by=by)
    _refuse_closed(round_)
    if not note.strip():
        raise BadInput("Say in a line what the further bug is.")
    check_text(note)
    noted = FurtherBug.objects.create(assignment=assignment, note=note.strip()[:4000])
    record(
        "noted a further bug",
        by=by,
        kind="further bug",
        object_id=noted.pk,
        study_id=round_.study_id,
        round_id=round_.pk,
        new=noted.note,
    )
    return noted


# --- closing


@transaction.atomic
def freeze(*, round_: Round, by: User) -> Round:
    """Close the round for good: the first half of closing, called with what follows in one transaction."""
    round_ = Round.objects.select_for_update(of=("self",)).select_related("study").get(pk=round_.pk)
    if not round_.is_open:
        raise Refused("The round is closed already.")
    left = Assignment.objects.filter(round=round_, state__in=[State.TODO, State.CLAIMED, State.PARKED])
    if round_.design == Round.Design.POOL:
        full = RoundBug.objects.filter(round=round_, taken=F("overlap")).values("bug")
        left.filter(state=State.TODO, bug__in=full).update(state=State.COVERED)
    left.filter(state=State.CLAIMED).update(state=State.TODO, lease_until=None)
    round_.state, round_.closed_at, round_.closed_by = Round.State.CLOSED, timezone.now(), by
    round_.codebook_version = present_version(round_.study_id)
    round_.save(update_fields=["state", "closed_at", "closed_by", "codebook_version"])
    record("closed a round", by=by, kind="round", object_id=round_.pk, label=round_.name, study_id=round_.study_id)
    return round_
