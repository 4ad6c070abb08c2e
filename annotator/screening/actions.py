"""What reviewers and leads do until a screening closes. Each vote takes the screening's row first, as the close does."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.collection.models import Item
from annotator.history.actions import record
from annotator.screening import choosing, dealing, prepared
from annotator.screening.choosing import Wanted
from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.screening.settling import settle_at_close
from annotator.studies.models import Membership, Role, Study
from annotator.web.errors import BadInput, Refused

State = Reading.State
LONGEST_COMMENT = 10_000
BATCH = 1000


# --- opening


@transaction.atomic
def open_screening(
    *,
    study: Study,
    name: str,
    reviewers: Sequence[User],
    wanted: Wanted,
    by: User,
    rule: str = Screening.Rule.UNANIMOUS,
    overlap: int | None = None,
    seed: int = 0,
) -> Screening:
    """Make candidates of the chosen items and deal them to the reviewers; without `overlap` each reads all."""
    Study.objects.select_for_update().get(pk=study.pk)
    overlap = len(reviewers) if overlap is None else overlap
    name = " ".join(name.split())
    _check_opening(study=study, name=name, reviewers=reviewers, overlap=overlap, rule=rule)
    items = list(choosing.choose(study, wanted))
    if not items:
        raise BadInput("No item matches that is not a candidate yet. Collect, import a sheet, or widen the choice.")
    latest = Screening.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    screening = Screening.objects.create(
        study=study,
        number=latest + 1,
        name=name,
        rule=rule,
        overlap=overlap,
        seed=seed,
        choice=wanted.as_stored(),
        opened_by=by,
    )
    screening.reviewers.set(reviewers)
    _deal(screening, items, reviewers)
    details = {
        "candidates": len(items),
        "reviewers": [reviewer.username for reviewer in reviewers],
        "rule": rule,
        "seed": seed,
        "criteria": [str(one) for one in Criterion.objects.active().filter(study=study)],
    }
    _tell("opened a screening", screening, by=by, new=details)
    return screening


def _check_opening(*, study: Study, name: str, reviewers: Sequence[User], overlap: int, rule: str) -> None:
    if not name:
        raise BadInput("Give the screening a name.")
    if len(name) > 120:
        raise BadInput("The name takes at most 120 characters.")
    if Screening.objects.filter(study=study, name=name).exists():
        raise BadInput(f"There is a screening named “{name}” already. Choose another name.")
    if rule not in Screening.Rule.values:
        raise BadInput(f"There is no rule “{rule[:40]}”: take {', '.join(Screening.Rule.values)}.")
    if not Criterion.objects.active().filter(study=study).exists():
        raise BadInput("Write the criteria first: what has to hold, and what keeps a candidate out.")
    if len({reviewer.pk for reviewer in reviewers}) != len(reviewers) or not reviewers:
        raise BadInput("Choose the reviewers, each once.")
    if not 1 <= overlap <= len(reviewers):
        raise BadInput(f"{overlap} votes a candidate are asked for, {len(reviewers)} reviewers are chosen.")
    members = set(Membership.objects.filter(study=study, role=Role.RATER).values_list("user_id", flat=True))
    strangers = [reviewer.username for reviewer in reviewers if reviewer.pk not in members]
    if strangers:
        raise BadInput(f"{strangers[0]} is not a rater of this study. Give the role under Members first.")


def _deal(screening: Screening, items: Sequence[Item], reviewers: Sequence[User]) -> None:
    Candidate.objects.bulk_create(
        (
            Candidate(study_id=screening.study_id, screening=screening, item=item, position=position)
            for position, item in enumerate(items, 1)
        ),
        batch_size=BATCH,
    )
    candidates = Candidate.objects.filter(screening=screening).order_by("position")
    identities: dict[int, str] = dict(candidates.values_list("pk", "item__identity"))
    names = [reviewer.username for reviewer in reviewers]
    groups = dealing.groups(identities, names, overlap=screening.overlap, seed=screening.seed)
    rows = [
        Reading(screening=screening, candidate_id=candidate, reviewer=reviewer, position=place)
        for reviewer in reviewers
        for place, candidate in enumerate(
            dealing.order_for(
                {pk: identity for pk, identity in identities.items() if reviewer.username in groups[pk]},
                seed=screening.seed,
                reviewer=reviewer.username,
            )
        )
    ]
    Reading.objects.bulk_create(rows, batch_size=BATCH)


# --- voting


@transaction.atomic
def vote(*, reading: Reading, decision: str, criterion: str = "", comment: str = "", by: User) -> Vote:
    """Give one's vote, or another in its place until the close. The same vote twice counts once."""
    screening = _take(reading.screening_id)
    reading = _own(reading, by=by)
    _refuse_closed(screening)
    cited = cited_by(screening.study_id, decision, criterion)
    comment = checked_comment(comment)
    held = _held(reading)
    new = [decision, cited.code if cited else "", comment]
    old = _words(held) if held else None
    if held is not None and old == new:
        return held
    given = held or Vote(candidate_id=reading.candidate_id, reviewer=by)
    given.decision, given.criterion, given.comment, given.at = decision, cited, comment, timezone.now()
    given.save()
    _set_state(reading, State.VOTED)
    _tell_blind("changed a vote" if held else "voted", screening, reading, by=by, old=old, new=new)
    return given


@transaction.atomic
def take_back(*, reading: Reading, by: User) -> Reading:
    """Undo one's vote: the candidate is to be read again. What the vote was stays in the history."""
    screening = _take(reading.screening_id)
    reading = _own(reading, by=by)
    _refuse_closed(screening)
    held = _held(reading)
    if held is None:
        return reading
    old = _words(held)
    held.delete()
    _set_state(reading, State.TODO)
    _tell_blind("took back a vote", screening, reading, by=by, old=old)
    return reading


@transaction.atomic
def put_off(*, reading: Reading, by: User) -> Reading:
    """Later: it comes again when the others are done; put off once more, after all that were."""
    screening = _take(reading.screening_id)
    reading = _own(reading, by=by)
    _refuse_closed(screening)
    if reading.state == State.VOTED:
        raise Refused("You voted on this one. Take the vote back first, or vote otherwise.")
    if reading.state == State.LATER:
        mine = Reading.objects.filter(screening=screening, reviewer=by)
        reading.position = (mine.aggregate(last=Max("position"))["last"] or 0) + 1
    reading.state = State.LATER
    reading.save(update_fields=["state", "position"])
    return reading


def share(screening_id: int) -> None:
    """Share the screening's row with other reviewers and shut out the close."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM screening_screening WHERE id = %s FOR SHARE", [screening_id])


def _take(screening_id: int) -> Screening:
    share(screening_id)
    found = prepared.SCREENING.first(screening=screening_id)
    if found is None:
        raise Screening.DoesNotExist
    return found


def _own(reading: Reading, *, by: User) -> Reading:
    mine = prepared.OWN_FOR_UPDATE.first(reading=reading.pk, reviewer=by.pk)
    if mine is None:
        raise Refused("This is another reviewer's candidate. Nothing was stored.")
    return mine


def _held(reading: Reading) -> Vote | None:
    return prepared.OWN_VOTE.first(candidate=reading.candidate_id, reviewer=reading.reviewer_id)


def _set_state(reading: Reading, state: str) -> None:
    if reading.state != state:
        reading.state = state
        reading.save(update_fields=["state"])


def _refuse_closed(screening: Screening) -> None:
    if not screening.is_open:
        raise Refused("The screening is closed: its votes stand. What they leave open is discussed on its page.")


def cited_by(study_id: int, decision: str, code: str) -> Criterion | None:
    """The criterion that a vote cites: one to exclude, none to include."""
    if decision not in Vote.Decision.values:
        raise BadInput("A vote is include or exclude.")
    if decision == Vote.Decision.INCLUDE:
        return None
    active = prepared.CRITERIA.all(study=study_id)
    found = next((one for one in active if one.code == code.strip().upper()), None)
    if found is None:
        raise BadInput("Choose the criterion that keeps it out, or that does not hold.")
    return found


def checked_comment(comment: str) -> str:
    comment = comment.strip()
    if len(comment) > LONGEST_COMMENT:
        raise BadInput(f"The comment has more than {LONGEST_COMMENT:,} characters. Shorten it.")
    if "\x00" in comment:
        raise BadInput("The comment holds a NUL character. Remove it.")
    try:
        comment.encode()
    except UnicodeEncodeError:
        raise BadInput("The comment holds half a character. Remove it.") from None
    return comment


def _words(given: Vote) -> list[str]:
    return [given.decision, given.criterion.code if given.criterion else "", given.comment]


# --- closing


@transaction.atomic
def close(*, screening: Screening, by: User) -> Screening:
    """Freeze the votes and write what the rule decides. What it leaves open is discussed."""
    screening = Screening.objects.select_for_update(of=("self",)).select_related("study").get(pk=screening.pk)
    if screening.is_imported:
        raise Refused("These votes came in by a sheet: they are not open.")
    if not screening.is_open:
        raise Refused("The screening is closed already.")
    screening.state, screening.closed_at, screening.closed_by = Screening.State.CLOSED, timezone.now(), by
    screening.save(update_fields=["state", "closed_at", "closed_by"])
    decided = settle_at_close(screening, by_id=by.pk)
    kept = Outcome.objects.current().filter(candidate__screening=screening, decision=Vote.Decision.INCLUDE).count()
    _tell("closed a screening", screening, by=by, new={"decided": decided, "included": kept})
    return screening


def _tell(verb: str, screening: Screening, *, by: User, new: Any = None) -> None:
    record(
        verb,
        by=by,
        kind="screening",
        object_id=screening.pk,
        label=screening.name,
        study_id=screening.study_id,
        new=new,
    )


def _tell_blind(
    verb: str, screening: Screening, reading: Reading, *, by: User, old: Any = None, new: Any = None
) -> None:
    """For its author alone until the screening closes."""
    record(
        verb,
        by=by,
        kind="vote",
        object_id=reading.candidate_id,
        label=f"{screening.name}, candidate {reading.candidate.position}",
        study_id=screening.study_id,
        screening_id=screening.pk,
        old=old,
        new=new,
    )
