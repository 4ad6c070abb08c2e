"""The rater's own turns: which comes next, what was kept, what was answered. Never a row of anybody else's."""

from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Max

from annotator.accounts.models import User
from annotator.codebook.models import Category, Facet
from annotator.labeling import places, prepared
from annotator.labeling.forms import Filled, ShownPin, from_draft
from annotator.labeling.models import Answer, Assignment, AssignmentQuerySet, Evidence, FurtherBug, Round
from annotator.labeling.source import Source, last_edit, links_of, source_of

State = Assignment.State
SHOWN_STATES = (State.TODO, State.CLAIMED, State.PARKED, State.SUBMITTED, State.SKIPPED)
PAGE = 100
SHARE_KEPT = 60  # seconds: a round gets further bugs only by an act of the lead


@dataclass(frozen=True)
class Row:
    """One line of the rater's own list."""

    number: int
    position: int
    reference: str
    title: str
    state: str
    label: str
    confidence: str
    has_draft: bool
    why: str


@dataclass(frozen=True)
class Rows:
    rows: tuple[Row, ...]
    next_after: int | None


def turns(round_: Round, rater: User) -> AssignmentQuerySet:
    """The rater's turns with all that a page of one shows of its bug."""
    mine = Assignment.objects.filter(round=round_, rater=rater)
    shown = mine.select_related("bug__item__repository", "bug__item__text")
    return shown.annotate(edited_at=last_edit("bug__item"), links=links_of("bug__item"))


def turn_at(round_: Round, rater: User, bug: int, *, is_shown: bool = True) -> Assignment | None:
    """The rater's turn at a bug; with `is_shown` all that its page needs comes along."""
    if is_shown:
        found = turns(round_, rater).filter(bug__number=bug).first()
    else:
        found = prepared.TURN.first(round_=round_.pk, rater=rater.pk, number=bug)
    if found is not None:
        found.round = round_
    return found


def source_at(assignment: Assignment) -> Source:
    """What the rater reads, of a turn that came with all that a page shows."""
    beside = {name: getattr(assignment, name, None) for name in ("edited_at", "links")}
    return source_of(assignment.bug, **beside)


def next_turn(round_: Round, rater: User) -> Assignment | None:
    """The next bug; in a pool it is claimed."""
    is_claimed = round_.design == Round.Design.POOL and round_.is_open
    found = None if is_claimed else prepared.NEXT_TURN.first(round_=round_.pk, rater=rater.pk)
    if found is None:
        found = places.next_for(round_, rater, rows=turns(round_, rater))
    if found is not None and round_.design == Round.Design.POOL:
        found = turns(round_, rater).get(pk=found.pk)
    if found is not None:
        found.round = round_
    return found


def before(assignment: Assignment) -> int | None:
    """The number of the bug that the rater answered, skipped or parked before this one, in the rater's own order."""
    left = Assignment.objects.filter(
        round=assignment.round_id,
        rater=assignment.rater_id,
        state__in=(State.SUBMITTED, State.SKIPPED, State.PARKED),
        position__lt=assignment.position,
    )
    return left.order_by("-position").values_list("bug__number", flat=True).first()


def after(assignment: Assignment) -> int | None:
    """The number of the bug that comes after this one, to fetch it ahead."""
    found = prepared.TURN_AFTER.first(
        round_=assignment.round_id, rater=assignment.rater_id, position=assignment.position
    )
    return found.bug.number if found else None


def share(round_: Round, rater_id: int) -> int:
    """How many bugs the rater was dealt. Kept for a minute: no page counts a round at each bug."""
    key = f"labeling:share:{round_.pk}:{rater_id}"
    found: int | None = cache.get(key)
    if found is None:
        last = Assignment.objects.filter(round=round_, rater=rater_id).aggregate(last=Max("position"))["last"]
        found = 0 if last is None else last + 1
        cache.set(key, found, SHARE_KEPT)
    return found


def kept(assignment: Assignment) -> Filled:
    """What the form shows at first: the draft, else what was submitted, else nothing."""
    if assignment.draft:
        return from_draft(assignment.draft, revision=assignment.revision)
    if assignment.revision == 0:
        return Filled()
    answers: dict[str, list[str]] = {}
    for facet, uid in current_answers(assignment):
        answers.setdefault(facet, []).append(uid)
    return Filled(
        answers={facet: tuple(uids) for facet, uids in answers.items() if facet != Facet.VERDICT},
        not_a_bug=assignment.not_a_bug_reason,
        confidence=assignment.confidence,
        note=assignment.note,
        pins=_pins(assignment),
        revision=assignment.revision,
    )


def current_answers(assignment: Assignment) -> list[tuple[str, str]]:
    rows = Answer.objects.filter(assignment=assignment, is_current=True).order_by("facet__position", "slot")
    return list(rows.values_list("facet__key", "category__uid"))


def _pins(assignment: Assignment) -> tuple[ShownPin, ...]:
    pins = Evidence.objects.filter(assignment=assignment, is_current=True).order_by("position")
    return tuple(ShownPin(*row) for row in pins.values_list("kind", "anchor", "place", "quote"))


def further_notes(assignment: Assignment) -> list[str]:
    if assignment.state == State.TODO and assignment.draft is None:
        return []  # untouched: a note leaves a draft behind
    return list(FurtherBug.objects.filter(assignment=assignment).order_by("pk").values_list("note", flat=True))


def own_answers(assignment: Assignment) -> list[tuple[Facet, Category]]:
    """What the rater answered, facet by facet."""
    rows = Answer.objects.filter(assignment=assignment, is_current=True).select_related("facet", "category__parent")
    return [(row.facet, row.category) for row in rows.order_by("facet__position", "slot")]


def own_list(round_: Round, rater: User, *, state: str, after: int) -> Rows:
    """A page of the rater's own bugs, in the rater's own order."""
    wanted = [state] if state else SHOWN_STATES
    mine = Assignment.objects.filter(round=round_, rater=rater, state__in=wanted, position__gt=after).wanted()
    found = list(mine.select_related("bug__item__repository").order_by("position")[: PAGE + 1])
    shown = found[:PAGE]
    return Rows(tuple(map(_row, shown)), shown[-1].position if len(found) > PAGE else None)


def _row(turn: Assignment) -> Row:
    item = turn.bug.item
    return Row(
        number=turn.bug.number,
        position=turn.position + 1,
        reference=item.reference,
        title=item.title or item.reference,
        state=turn.state,
        label=turn.get_state_display(),
        confidence=turn.get_confidence_display() if turn.confidence else "",
        has_draft=turn.draft is not None,
        why=" ".join(filter(None, (turn.skip_reason, turn.skip_note))) if turn.state == State.SKIPPED else turn.note,
    )
