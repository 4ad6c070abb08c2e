"""Which bugs are studied."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.collection.actions import allow_sampling
from annotator.collection.models import Item
from annotator.history.actions import record
from annotator.sampling import pool, queries
from annotator.sampling.models import Bug, Drawn, Sample, Stratum, TopUp
from annotator.sampling.rules import Rule
from annotator.stats import draws
from annotator.stats.draws import Member
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows
from annotator.web.errors import BadInput, Refused

PLACE = ("stratum_id", "position", "item_id", "moment")
LONGEST_NAME, LONGEST_NOTE, BATCH = 120, 4000, 500


@transaction.atomic
def add_bugs(*, study: Study, places: Sequence[tuple[Item, int]], by: User) -> list[Bug]:
    """Take up bugs, given as item and ordinal, under the study's next numbers."""
    _hold({study.pk})
    last = Bug.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
    bugs = Bug.objects.bulk_create(
        Bug(study=study, item=item, ordinal=ordinal, number=number)
        for number, (item, ordinal) in enumerate(places, last + 1)
    )
    record("took up bugs", by=by, kind="sampling", study_id=study.pk, new={"bugs": len(bugs), "first": last + 1})
    return bugs


def _hold(studies: set[int]) -> None:
    """One after another: numbers, quotas and replacements are counted before they are written."""
    list(Study.objects.select_for_update().filter(pk__in=studies).order_by("pk"))


# --- drawing


@transaction.atomic
def draw_sample(*, study: Study, name: str, rule: Rule, seed: int, by: User, override_reason: str = "") -> Sample:
    """Put the whole pool in order and keep it. Nothing is taken up yet.

    Refused while a harvest behind the pool lacks something, unless the reason is written why that may be.
    """
    _hold({study.pk})
    _check_name(study, name)
    reason = _allow_gaps(study, rule, override_reason, by=by)
    members = pool.members(study, rule)
    drawn = checked_draw(list(members.values()), rule, seed)
    sample = Sample.objects.create(
        study=study,
        number=(Sample.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0) + 1,
        name=name.strip(),
        rule=rule.document(),
        seed=seed,
        digest=draws.digest(members.values(), rule.document(), seed),
        pool_size=len(members),
        override_reason=reason,
        drawn_by=by,
    )
    _keep(sample, drawn, {member.identity: pk for pk, member in members.items()})
    told = {"rule": rule.says, "seed": seed, "pool": len(members), "digest": sample.digest}
    _tell("drew a sample", sample, by=by, new=told, why=reason)
    return sample


def checked_draw(members: Sequence[Member], rule: Rule, seed: int) -> draws.Draw:
    """The draw, or a refusal that says why there is none."""
    if not members:
        raise Refused("The pool is empty: every item that is in holds a bug already, or nothing is in.")
    fewest = 1 if rule.kind == draws.EQUAL else rule.count or 0
    if fewest > len(members):
        raise BadInput(f"The pool holds {len(members):,} items; {fewest:,} are wanted. Want fewer, or widen the pool.")
    drawn = draws.draw(members, kind=rule.kind, count=rule.count, within=rule.within, seed=seed)
    if rule.is_stratified and len(drawn.strata) == 1:
        raise BadInput(f"All of the pool is of one {rule.by}, {drawn.strata[0].label}. Choose a rule without strata.")
    return drawn


def _check_name(study: Study, name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME:
        raise BadInput(f"Give the sample a name of at most {LONGEST_NAME} characters.")
    if Sample.objects.filter(study=study, name=name.strip()).exists():
        raise BadInput(f"There is a sample “{name.strip()}” already. Give it another name.")


def _allow_gaps(study: Study, rule: Rule, reason: str, *, by: User) -> str:
    found = pool.gaps(study, rule)
    if found and not reason.strip():
        raise Refused(
            f"The pool may lack items: {pool.said(found)}. Complete it, or write why it is drawn all the same."
        )
    for gap in found:
        allow_sampling(harvest=gap.harvest, reason=reason, by=by)
    return reason.strip()[:LONGEST_NOTE] if found else ""


def _keep(sample: Sample, drawn: draws.Draw, ids: dict[str, int]) -> None:
    strata = {
        part.label: Stratum.objects.create(sample=sample, label=part.label, size=part.size, quota=part.quota).pk
        for part in drawn.strata
    }
    rows = (
        (strata[member.stratum], position, ids[member.identity], member.moment)
        for position, member in enumerate(drawn.order, 1)
    )
    insert_rows(Drawn, PLACE, rows, sample_id=sample.pk)


# --- taking up


@transaction.atomic
def take_up(*, sample: Sample, by: User, stratum: str | None = None, most: int | None = None) -> list[Bug]:
    """Make bugs of the next places, until each stratum (or the one that is named) has as many as are wanted of it."""
    _hold({sample.study_id})
    parts = queries.parts(sample)
    if stratum is not None:
        parts = [part for part in parts if part.label == stratum]
        if not parts:
            raise BadInput(f"The sample has no stratum “{stratum[:80]}”.")
    places = list(queries.next_of(sample, {part.id: part.short for part in parts}, most=most))
    if not places:
        raise Refused("Nothing is left to take up: the quota is reached, or the list is at its end.")
    bugs = _take(sample, places, by=by)
    _tell("took up a sample", sample, by=by, new={"bugs": len(bugs), "stratum": stratum or ""})
    return bugs


def _take(sample: Sample, places: Sequence[Drawn], *, by: User) -> list[Bug]:
    _set(Drawn.objects.all(), [place.pk for place in places], state=Drawn.State.TAKEN, taken_at=timezone.now())
    return add_bugs(study=sample.study, places=[(place.item, 1) for place in places], by=by)


@transaction.atomic
def top_up(*, sample: Sample, by: User) -> list[TopUp]:
    """Put the next of the reserve in the place of each bug that left, so far as the quota wants it."""
    _hold({sample.study_id})
    found = queries.replacements(sample)
    if not found:
        raise Refused("No bug waits to be replaced: the quota is reached, or the reserve is empty.")
    bugs = _take(sample, [one.place for one in found], by=by)
    rows = TopUp.objects.bulk_create(
        TopUp(sample=sample, left=one.left, came=bug, by=by) for one, bug in zip(found, bugs, strict=True)
    )
    _tell("topped up a sample", sample, by=by, new={f"bug {one.left.number}": str(one.came) for one in rows})
    return rows


def _set(rows: "QuerySet[Any]", ids: Sequence[int], **values: Any) -> None:
    """The same values in many rows, some at a time."""
    for start in range(0, len(ids), BATCH):
        rows.filter(pk__in=ids[start : start + BATCH]).update(**values)


# --- leaving


@transaction.atomic
def leave(*, bugs: Sequence[Bug], reason: str, note: str = "", by: User) -> list[Bug]:
    """Take bugs out of the study's. Their answers and labels stay; a duplicate or a withdrawal needs a note."""
    if reason not in Bug.Left.values:
        raise BadInput(f"A bug leaves as {', '.join(Bug.Left.values)}.")
    if reason != Bug.Left.NOT_A_BUG and not note.strip():
        raise BadInput("Write why it leaves: of which bug it is the duplicate, or what speaks against it.")
    _hold({bug.study_id for bug in bugs})
    rows = list(Bug.objects.filter(pk__in=[bug.pk for bug in bugs]).order_by("number"))
    if gone := [bug for bug in rows if bug.left_at]:
        raise Refused(f"Bug {gone[0].number} has left already: {gone[0].get_left_reason_display().lower()}.")
    said = {"left_at": timezone.now(), "left_reason": reason, "left_note": note.strip()[:LONGEST_NOTE]}
    _set(Bug.objects.all(), [bug.pk for bug in rows], **said)
    for bug in rows:
        _tell_of(
            bug, "left the study’s bugs", by=by, new=Bug.Left(reason).label.lower(), why=note.strip()[:LONGEST_NOTE]
        )
        for name, value in said.items():
            setattr(bug, name, value)
    return rows


@transaction.atomic
def come_back(*, bug: Bug, reason: str, by: User) -> Bug:
    """A bug that left by mistake is one again, unless another has taken its place."""
    if not reason.strip():
        raise BadInput("Write why the bug comes back.")
    _hold({bug.study_id})
    bug = Bug.objects.get(pk=bug.pk)
    if bug.left_at is None:
        raise Refused(f"Bug {bug.number} has not left.")
    if taken := TopUp.objects.filter(left=bug).select_related("came").first():
        raise Refused(f"Bug {taken.came.number} has taken its place in {taken.sample}. Withdraw that one first.")
    was = bug.get_left_reason_display().lower()
    bug.left_at, bug.left_reason, bug.left_note = None, "", ""
    bug.save(update_fields=["left_at", "left_reason", "left_note"])
    _tell_of(bug, "came back to the study’s bugs", by=by, old=was, why=reason.strip()[:LONGEST_NOTE])
    return bug


def _tell_of(bug: Bug, verb: str, *, by: User, old: object = None, new: object = None, why: str) -> None:
    record(verb, by=by, kind="bug", object_id=bug.pk, label=str(bug), study_id=bug.study_id, old=old, new=new, why=why)


def _tell(verb: str, sample: Sample, *, by: User, new: object, why: str = "") -> None:
    record(
        verb,
        by=by,
        kind="sample",
        object_id=sample.pk,
        label=sample.name,
        study_id=sample.study_id,
        new=new,
        why=why,
    )
