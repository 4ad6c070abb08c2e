"""Settling what raters differ on. Nothing here touches an answer, so nothing here moves the blind numbers."""

from collections.abc import Sequence

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication import deciding, settling
from annotator.adjudication.deciding import Source
from annotator.adjudication.grouped import note_for
from annotator.adjudication.models import Dispute, Remark, Resolution, Stand
from annotator.adjudication.positions import Positions, ids, positions_of
from annotator.adjudication.queries import FINAL_KINDS
from annotator.codebook.models import Category, Facet
from annotator.history.actions import record
from annotator.labeling.models import Round
from annotator.sampling.models import Bug
from annotator.studies.models import Session
from annotator.studies.protocol import protocol_of
from annotator.web.errors import BadInput, Refused

Move = Stand.Move


# --- what settles itself


@transaction.atomic
def settle_at_close(*, round_: Round, by: User | None) -> int:
    """Settle what nobody differs on; the caller closes or imports in the same transaction. How many labels.

    Training, retest and audit rounds make no final labels.
    """
    if round_.kind not in FINAL_KINDS or round_.is_open:
        return 0
    count = settling.settle_round(round_)
    _record_round("settled what nobody differs on", round_, {"labels": count}, by=by)
    return count


@transaction.atomic
def forget_settled(*, round_: Round, by: User | None) -> int:
    """Take back what settled itself in an imported round, before an import that it rests on is undone."""
    if round_.state != Round.State.IMPORTED:
        return 0
    count, _ = Resolution.objects.filter(round=round_, source__in=deciding.BY_ITSELF).delete()
    Dispute.objects.filter(round=round_).delete()
    _record_round("took back what had settled itself", round_, {"labels": count}, by=by)
    return count


def _record_round(verb: str, round_: Round, new: dict[str, object], *, by: User | None) -> None:
    record(verb, by=by, kind="round", object_id=round_.pk, label=round_.name, study_id=round_.study_id, new=new)


# --- by the raters


@transaction.atomic
def take_stand(
    *, bug: Bug, facet: Facet, move: str, by: User, categories: Sequence[Category] = (), why: str = ""
) -> Stand:
    """A rater's move on an own dispute: keep, accept another's label, or propose a third with a line why.

    When every rater of the bug has confirmed one and the same label it is settled as *discussed*.
    """
    why = deciding.check_words(why)
    if move not in Move.values:
        raise BadInput("Keep yours, accept the other's, or propose a third.")
    bug = deciding.lock(bug)
    positions = deciding.positions_for(bug)
    if by not in positions.raters:
        raise Refused("Only the raters of a bug take a stand on it.")
    deciding.refuse_protocol(bug, "discussion")
    deciding.open_dispute(bug, facet)
    label = _label_of(move, facet, positions, by=by, categories=categories, why=why)
    Stand.objects.filter(bug=bug, facet=facet, rater=by, is_current=True).update(is_current=False)
    stand = Stand.objects.create(round=positions.round, bug=bug, facet=facet, rater=by, move=move, why=why)
    stand.categories.set(label)
    new = {"bug": bug.number, "facet": facet.key, "move": move, "label": [category.name for category in label]}
    record(
        "took a stand",
        by=by,
        kind="bug",
        object_id=bug.pk,
        label=f"{bug}, {facet.name}",
        study_id=bug.study_id,
        new=new,
        why=why,
    )
    _settle_if_confirmed(bug, facet, positions, by=by)
    return stand


def _label_of(
    move: str, facet: Facet, positions: Positions, *, by: User, categories: Sequence[Category], why: str
) -> Sequence[Category]:
    mine = positions.before(by.pk, facet.pk)
    if move == Move.KEEP:
        if not mine:
            raise BadInput(f"You gave {facet.name} no answer that you could keep. Accept the other's or propose one.")
        return mine
    if move == Move.PROPOSE:
        if not why:
            raise BadInput("Say in a line why you propose this label.")
        return deciding.check_label(facet, categories)
    theirs = [label for label in _labels_of_others(positions, facet, by=by) if label]
    others = {ids(label): label for label in theirs if ids(label) != ids(mine)}
    if theirs and not others:
        raise BadInput("The others stand by your label already. Keep it, and the dispute is settled.")
    if categories:
        wanted = ids(categories)
        if wanted not in others:
            raise BadInput("No other rater of the bug stands by this label. Propose it instead.")
        return others[wanted]
    if len(others) != 1:
        raise BadInput("The others do not stand by one label. Choose which of theirs you accept.")
    return next(iter(others.values()))


def _labels_of_others(positions: Positions, facet: Facet, *, by: User) -> list[tuple[Category, ...]]:
    return [positions.standing(rater.pk, facet.pk) for rater in positions.raters if rater != by]


def _settle_if_confirmed(bug: Bug, facet: Facet, before: Positions, *, by: User) -> None:
    positions = positions_of(bug, before.round)
    if not positions.is_confirmed(facet.pk):
        return
    deciding.store(
        bug,
        facet,
        positions.standing(by.pk, facet.pk),
        source=Source.DISCUSSED,
        basis=positions.round,
        by=by,
        verb="came to agree",
        participants=[rater.username for rater in positions.raters],
    )


@transaction.atomic
def remark(*, bug: Bug, text: str, by: User, facet: Facet | None = None, is_question: bool = False) -> Remark:
    """A turn in the discussion of a bug whose round has closed; a question asks its raters."""
    text = deciding.check_words(text)
    if not text:
        raise BadInput("Write a line before you send it.")
    bug = deciding.lock(bug)
    round_ = deciding.positions_for(bug).round
    said = Remark.objects.create(round=round_, bug=bug, facet=facet, by=by, text=text, is_question=is_question)
    verb = "asked the raters" if is_question else "remarked"
    record(verb, by=by, kind="bug", object_id=bug.pk, label=str(bug), study_id=bug.study_id, why=text)
    return said


# --- by one who did not rate


@transaction.atomic
def adjudicate(
    *,
    bug: Bug,
    facet: Facet,
    categories: Sequence[Category],
    reason: str,
    by: User,
    note: str = "",
    session: Session | None = None,
) -> list[Resolution]:
    """Settle a dispute. Never by one who rated the bug; a note is needed where the label is no rater's."""
    bug, positions = _ready(bug, by=by)
    deciding.open_dispute(bug, facet)
    return _decide(
        bug, facet, positions, categories, reason=reason, note=note, by=by, session=session, verb="adjudicated"
    )


@transaction.atomic
def adjudicate_not_a_bug(*, bug: Bug, facet: Facet, reason: str, note: str, by: User) -> list[Resolution]:
    """Settle the dispute on a facet by the verdict: it is no bug, so it has no other labels."""
    bug, positions = _ready(bug, by=by)
    deciding.open_dispute(bug, facet)
    verdict = Facet.objects.get(codebook__study=bug.study_id, key=Facet.VERDICT)
    label = Category.objects.filter(facet=verdict, name=Category.NOT_A_BUG)
    return _decide(bug, verdict, positions, list(label), reason=reason, note=note, by=by, verb="adjudicated")


@transaction.atomic
def change_decision(
    *, bug: Bug, facet: Facet, categories: Sequence[Category], reason: str, by: User, note: str = "", seen_at: str
) -> list[Resolution]:
    """Decide anew on what is settled; the decision before stays as history.

    `seen_at` is the time (ISO) of the decision that the page showed: if another came meanwhile, nothing changes.
    """
    bug, positions = _ready(bug, by=by)
    before = deciding.current(bug, facet)
    if not before:
        raise Refused(f"{facet.name} of {bug} has no decision yet. Settle it in the queue.")
    if before[0].at.isoformat() != seen_at:
        raise Refused("Another decision was made since the page was opened. Load it again and compare.")
    return _decide(bug, facet, positions, categories, reason=reason, note=note, by=by, verb="changed a decision")


@transaction.atomic
def leave_open(*, bug: Bug, facet: Facet, by: User, note: str = "", session: Session | None = None) -> list[Resolution]:
    """Say that it cannot be settled: the facet of the bug has no final label."""
    note = deciding.check_words(note)
    bug, positions = _ready(bug, by=by)
    deciding.open_dispute(bug, facet)
    return deciding.store(
        bug,
        facet,
        [],
        source=Source.UNRESOLVED,
        basis=positions.round,
        by=by,
        verb="left open",
        note=note,
        session=session,
    )


def _ready(bug: Bug, *, by: User) -> tuple[Bug, Positions]:
    bug = deciding.lock(bug)
    positions = deciding.positions_for(bug)
    deciding.refuse_rater(bug, by)
    deciding.refuse_protocol(bug, "adjudicator")
    return bug, positions


def _decide(
    bug: Bug,
    facet: Facet,
    positions: Positions,
    categories: Sequence[Category],
    *,
    reason: str,
    note: str,
    by: User,
    verb: str,
    session: Session | None = None,
) -> list[Resolution]:
    label = deciding.check_label(facet, categories)
    note = deciding.check_words(note) or note_for(positions, facet, label)
    if reason not in Resolution.Reason.values:
        raise BadInput("Choose the reason of the disagreement.")
    if not note and positions.differs_from_all(facet.pk, ids(label)):
        raise BadInput("This label is no rater's of the bug: write a note why.")
    return deciding.store(
        bug,
        facet,
        label,
        source=Source.ADJUDICATED,
        basis=positions.round,
        by=by,
        verb=verb,
        reason=reason,
        note=note,
        session=session,
    )


# --- by count


@transaction.atomic
def settle_by_majority(*, round_: Round, by: User) -> int:
    """Where the protocol allows it: the label that more than half of a bug's raters gave blind. How many."""
    if not protocol_of(round_.study).by_majority:
        raise Refused("The study's protocol does not let a majority decide. The lead can change it, with a reason.")
    count = 0
    waiting = Dispute.objects.filter(round=round_, is_open=True).select_related("bug", "facet")
    for dispute in waiting.order_by("bug", "facet"):
        bug = deciding.lock(dispute.bug)
        if deciding.in_open_round(bug):
            continue  # it is being labelled again; the others need not wait for it
        positions = deciding.positions_for(bug)
        label = _majority(positions, dispute.facet)
        if label and Dispute.objects.filter(pk=dispute.pk, is_open=True).exists():
            deciding.store(
                bug,
                dispute.facet,
                label,
                source=Source.MAJORITY,
                basis=positions.round,
                by=by,
                verb="settled by majority",
            )
            count += 1
    return count


def _majority(positions: Positions, facet: Facet) -> Sequence[Category]:
    labels = [positions.blind[rater.pk].get(facet.pk, ()) for rater in positions.raters]
    for label in labels:
        if label and 2 * sum(ids(other) == ids(label) for other in labels) > len(labels):
            return label
    return ()
