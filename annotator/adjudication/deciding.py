"""How a decision is checked and stored: one lock per bug, one place that writes resolutions."""

from collections.abc import Sequence

from annotator.accounts.models import User
from annotator.adjudication import settling
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.positions import Positions, basis_of, positions_of
from annotator.adjudication.queries import FINAL_KINDS
from annotator.codebook.models import Category, Facet
from annotator.history.actions import record
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.studies.access import share_study
from annotator.studies.models import Session
from annotator.studies.protocol import protocol_of
from annotator.web.errors import BadInput, Refused
from annotator.web.texts import check_text

NOT_YET = (
    "Not yet: the round of this bug is still open. Its answers stay with their raters until it closes; "
    "then what they differ on can be settled here."
)
LONGEST = 10_000
Source = Resolution.Source
BY_ITSELF = (Source.UNANIMOUS, Source.SINGLE)
BY_PEOPLE = (Source.ADJUDICATED, Source.DISCUSSED, Source.MAJORITY, Source.JOINT, Source.UNRESOLVED)


def lock(bug: Bug) -> Bug:
    """All that is decided on a bug is decided one after the other, and while nobody deals it to raters."""
    share_study(bug.study_id)
    return Bug.objects.select_for_update(of=("self",), no_key=True).select_related("study").get(pk=bug.pk)


def in_open_round(bug: Bug) -> bool:
    return RoundBug.objects.filter(bug=bug, round__state=Round.State.OPEN, round__kind__in=FINAL_KINDS).exists()


def positions_for(bug: Bug) -> Positions:
    """Where the bug's raters stand, or the same refusal whatever has been answered so far."""
    if in_open_round(bug):
        raise Refused(NOT_YET)
    basis = basis_of(bug)
    if basis is None:
        raise Refused(NOT_YET)
    return positions_of(bug, basis)


def has_rated(bug: Bug, person: User) -> bool:
    """The person answered the bug in some round, or is to answer it in an open one."""
    given_back = [Assignment.State.SKIPPED, Assignment.State.COVERED]
    turns = Assignment.objects.filter(bug=bug, rater=person)
    due = turns.filter(round__state=Round.State.OPEN).exclude(state__in=given_back)
    return due.exists() or Answer.objects.filter(bug=bug, rater=person).exists()


def refuse_rater(bug: Bug, by: User) -> None:
    if has_rated(bug, by):
        raise Refused("You rated this bug, so its decision is left to another adjudicator.")


def refuse_protocol(bug: Bug, wanted: str) -> None:
    """`wanted` is "adjudicator" or "discussion"; "either" allows both."""
    allowed = protocol_of(bug.study).decided_by
    if allowed in (wanted, "either"):
        return
    if wanted == "discussion":
        raise Refused("The study's protocol leaves disputes to an adjudicator. The lead can change it, with a reason.")
    raise Refused(
        "The study's protocol leaves disputes to the raters' discussion. The lead can change it, with a reason."
    )


def check_label(facet: Facet, categories: Sequence[Category]) -> list[Category]:
    """One label: active categories of the facet, one unless it takes several."""
    label = sorted({category.pk: category for category in categories}.values(), key=lambda one: (one.position, one.pk))
    if not label:
        raise BadInput(f"Choose a category of {facet.name}.")
    if len(label) > 1 and not facet.is_many:
        raise BadInput(f"{facet.name} takes one category, {len(label)} were chosen.")
    for category in label:
        if category.facet_id != facet.pk or category.state != Category.State.ACTIVE:
            raise BadInput(f"“{category.name}” is not a category of {facet.name} that can be chosen.")
        if facet.is_verdict and category.name not in (Category.BUG, Category.NOT_A_BUG):
            raise BadInput("The verdict is bug or not a bug; the reason goes into the note.")
    return label


def check_words(text: str) -> str:
    if len(text) > LONGEST:
        raise BadInput(f"The text has more than {LONGEST:,} characters. Shorten it.")
    check_text(text)
    return text.strip()


def current(bug: Bug, facet: Facet) -> list[Resolution]:
    found = Resolution.objects.current().filter(bug=bug, facet=facet).select_related("category", "by")
    return list(found.order_by("slot"))


def open_dispute(bug: Bug, facet: Facet) -> Dispute:
    """The dispute if it waits for a decision; otherwise who was faster is said."""
    found = Dispute.objects.filter(bug=bug, facet=facet, is_open=True).first()
    if found is None:
        raise Refused(f"{facet.name} of {bug} does not wait for a decision: it is settled. Look at its history below.")
    return found


def store(
    bug: Bug,
    facet: Facet,
    label: Sequence[Category],
    *,
    source: str,
    basis: Round | None,
    by: User,
    verb: str,
    reason: str = "",
    note: str = "",
    session: Session | None = None,
    participants: Sequence[str] = (),
) -> list[Resolution]:
    """Put the decision in the place of the one before, which stays as history."""
    before = current(bug, facet)
    Resolution.objects.filter(pk__in=[row.pk for row in before]).update(is_current=False)
    stored = [
        Resolution.objects.create(
            study_id=bug.study_id,
            bug=bug,
            facet=facet,
            slot=slot,
            category=category,
            round=basis,
            source=source,
            by=by if source == Source.ADJUDICATED else None,
            reason=reason,
            note=note,
            session=session,
            participants=sorted(participants),
            recorded_by=by if session or source == Source.JOINT else None,
        )
        for slot, category in enumerate(label or [None])
    ]
    record(
        verb,
        by=by,
        kind="resolution",
        object_id=stored[0].pk,
        label=f"{bug}, {facet.name}",
        study_id=bug.study_id,
        old=told(before),
        new=told(stored),
        why=note,
    )
    _follow(bug, facet, label, basis)
    return stored


def told(rows: Sequence[Resolution]) -> dict[str, object] | None:
    if not rows:
        return None
    first = rows[0]
    return {
        "bug": first.bug.number,
        "facet": first.facet.key,
        "label": [row.category.name for row in rows if row.category],
        "source": first.source,
        "reason": first.reason,
        "stale": first.is_stale,
    }


def _follow(bug: Bug, facet: Facet, label: Sequence[Category], basis: Round | None) -> None:
    """What the decision means for the disputes of the bug. Not a bug: it has no other labels."""
    if facet.is_verdict and label:
        if label[0].name == Category.NOT_A_BUG:
            _drop_others(bug, facet)
        else:
            _bring_back_others(bug, facet, basis)
    settling.refresh(bug.study_id, bug.pk)


def _drop_others(bug: Bug, verdict: Facet) -> None:
    Resolution.objects.current().filter(bug=bug).exclude(facet=verdict).update(is_current=False)
    Dispute.objects.filter(bug=bug, is_current=True).exclude(facet=verdict).update(is_current=False, is_open=False)


def _bring_back_others(bug: Bug, verdict: Facet, basis: Round | None) -> None:
    """It is a bug after all: what had settled itself, or what took its place, is the label again; the rest is disputed."""
    if basis is None:
        return
    settled = Resolution.objects.filter(bug=bug, round=basis, source__in=BY_ITSELF).exclude(facet=verdict)
    for facet in settled.values_list("facet", flat=True).distinct():
        if not Resolution.objects.current().filter(bug=bug, facet=facet).exists():
            bring_back(bug.pk, facet)
    settling.settle_rest_of(bug.pk, round_=basis)


def bring_back(bug: int, facet: int) -> None:
    """The latest decision is in force again. Beside the label of a sheet its votes alone never were."""
    rows = list(Resolution.objects.filter(bug=bug, facet=facet).select_related("round").order_by("-pk"))
    for row in [row for row in rows if not _is_of_votes(row)] or rows:
        row.is_current = True
        row.save(update_fields=["is_current"])
        if row.slot == 0:  # the labels of one decision are stored in order of their slots
            return


def _is_of_votes(row: Resolution) -> bool:
    return row.source in BY_ITSELF and row.round is not None and row.round.state == Round.State.IMPORTED
