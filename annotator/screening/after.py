"""What follows a close: second votes, decisions on what the rule left open, and what changes them. All with a reason."""

from collections.abc import Sequence

from django.db import transaction

from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.screening.actions import checked_comment, cited_by
from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.screening.rules import EXCLUDE, INCLUDE, ground
from annotator.screening.settling import criteria_in_order
from annotator.studies.models import Membership
from annotator.web.errors import BadInput, Refused


@transaction.atomic
def vote_again(*, candidate: Candidate, decision: str, criterion: str = "", comment: str = "", by: User) -> Vote:
    """A reviewer's vote after the close. When all its reviewers say the same now, it is decided: discussed."""
    candidate = _take(candidate)
    current = _current(candidate)
    if current is not None:
        raise Refused("This candidate is decided. It has to be reopened, with a reason, before anybody votes again.")
    latest = latest_votes(candidate)
    if by.pk not in {*latest, *_dealt(candidate)}:
        raise Refused("Only its reviewers vote on a candidate.")
    cited, comment = cited_by(candidate.study_id, decision, criterion), checked_comment(comment)
    turn = max((vote.turn for vote in latest.values()), default=Vote.BLIND) + 1
    given = Vote.objects.create(
        candidate=candidate, reviewer=by, turn=turn, decision=decision, criterion=cited, comment=comment
    )
    new = [decision, cited.code if cited else ""]
    _tell("voted again", candidate, by=by, new=new, why=comment)
    latest[by.pk] = given
    if set(_dealt(candidate)) <= set(latest) and len({vote.decision for vote in latest.values()}) == 1:
        _agree(candidate, list(latest.values()), by=by)
    return given


def _agree(candidate: Candidate, votes: Sequence[Vote], *, by: User) -> None:
    cited = [vote.criterion_id for vote in votes if vote.criterion_id]
    names = User.objects.filter(pk__in=[vote.reviewer_id for vote in votes]).order_by("username")
    outcome = Outcome.objects.create(
        candidate=candidate,
        decision=votes[0].decision,
        source=Outcome.Source.DISCUSSED,
        criterion_id=ground(cited, criteria_in_order(candidate.study_id)),
        participants=list(names.values_list("username", flat=True)),
        by=by,
    )
    _tell_outcome("came to agree", candidate, outcome, by=by)


@transaction.atomic
def decide(
    *,
    candidate: Candidate,
    decision: str,
    criterion: str = "",
    note: str,
    participants: Sequence[str] = (),
    by: User,
) -> Outcome:
    """A lead writes down what was decided on what the votes left open: discussed where all its reviewers took part."""
    candidate = _take(candidate)
    if _current(candidate) is not None:
        raise Refused("This candidate is decided. Reopen it first, with a reason.")
    cited, note = cited_by(candidate.study_id, decision, criterion), _reason(note, "Say why it is decided so.")
    names = sorted(set(participants))
    members = Membership.objects.filter(study=candidate.study_id, user__username__in=names)
    strangers = set(names) - set(members.values_list("user__username", flat=True))
    if strangers:
        raise BadInput(f"{min(strangers)} is not a member of this study. Name those who took part.")
    reviewers = reviewers_of(candidate)
    is_joint = bool(reviewers) and reviewers <= set(names)
    if by.username in reviewers and not is_joint:
        raise Refused("You voted on this candidate: decide it together with its other reviewers, and name them all.")
    outcome = Outcome.objects.create(
        candidate=candidate,
        decision=decision,
        source=Outcome.Source.DISCUSSED if is_joint else Outcome.Source.DECIDED,
        criterion=cited,
        note=note,
        participants=names,
        by=by,
    )
    _tell_outcome("decided on a candidate", candidate, outcome, by=by)
    return outcome


@transaction.atomic
def reopen(*, candidate: Candidate, reason: str, by: User) -> Candidate:
    """Take a decision back: it stays, superseded, and the candidate is open again."""
    candidate = _take(candidate)
    current = _current(candidate)
    if current is None:
        raise Refused("This candidate is not decided: there is nothing to reopen.")
    reason = _reason(reason, "Say why the decision is taken back.")
    _supersede(current)
    _tell("reopened a decision", candidate, by=by, old=_said(current), why=reason)
    return candidate


@transaction.atomic
def drop(*, candidate: Candidate, criterion: str = "", reason: str, by: User) -> Outcome:
    """What was in leaves: found later not to belong. Counted apart from what screening kept out."""
    candidate = _take(candidate)
    current = _current(candidate)
    if current is None or current.decision != INCLUDE:
        raise Refused("Only a candidate that is in can be dropped.")
    reason = _reason(reason, "Say why it is dropped.")
    cited = cited_by(candidate.study_id, EXCLUDE, criterion) if criterion else None
    _supersede(current)
    outcome = Outcome.objects.create(
        candidate=candidate, decision=EXCLUDE, source=Outcome.Source.DROPPED, criterion=cited, note=reason, by=by
    )
    _tell_outcome("dropped a candidate", candidate, outcome, by=by)
    return outcome


def latest_votes(candidate: Candidate) -> dict[int, Vote]:
    """By reviewer: what each says now."""
    votes = Vote.objects.filter(candidate=candidate).select_related("criterion", "reviewer").order_by("turn")
    return {vote.reviewer_id: vote for vote in votes}


def reviewers_of(candidate: Candidate) -> set[str]:
    """User names of those who voted on it."""
    return set(Vote.objects.filter(candidate=candidate).values_list("reviewer__username", flat=True))


def _dealt(candidate: Candidate) -> list[int]:
    return list(Reading.objects.filter(candidate=candidate).values_list("reviewer_id", flat=True))


def _take(candidate: Candidate) -> Candidate:
    """Held, and of a screening that is over: nobody decides while others still read."""
    found = Candidate.objects.select_for_update(of=("self",)).select_related("screening", "item__repository")
    held = found.get(pk=candidate.pk)
    if held.screening.state == Screening.State.OPEN:
        raise Refused("The screening is open: nothing is discussed or decided before it closes.")
    return held


def _current(candidate: Candidate) -> Outcome | None:
    return Outcome.objects.current().filter(candidate=candidate).select_related("criterion").first()


def _supersede(outcome: Outcome) -> None:
    outcome.is_current = False
    outcome.save(update_fields=["is_current"])


def _reason(text: str, missing: str) -> str:
    text = checked_comment(text)
    if not text:
        raise BadInput(missing)
    return text


def _said(outcome: Outcome) -> list[str]:
    criterion: Criterion | None = outcome.criterion
    return [outcome.decision, criterion.code if criterion else "", outcome.source]


def _tell_outcome(verb: str, candidate: Candidate, outcome: Outcome, *, by: User) -> None:
    new = {"decision": _said(outcome), "participants": outcome.participants}
    _tell(verb, candidate, by=by, new=new, why=outcome.note)


def _tell(verb: str, candidate: Candidate, *, by: User, old: object = None, new: object = None, why: str = "") -> None:
    record(
        verb,
        by=by,
        kind="candidate",
        object_id=candidate.pk,
        label=candidate.item.reference,
        study_id=candidate.study_id,
        old=old,
        new=new,
        why=why,
    )
