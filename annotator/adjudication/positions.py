"""Where the raters of a bug stand: blind answers, second looks, and their moves after the close."""

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from annotator.accounts.models import User
from annotator.adjudication.models import Stand
from annotator.adjudication.queries import final_rounds
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer, Assignment, Evidence, Round
from annotator.sampling.models import Bug

LETTERS = "ABCEFGHIJK"  # D is "not a bug", O another label, U left open

Label = tuple[Category, ...]
Given = dict[int, dict[int, Label]]  # rater id → facet id → label


@dataclass(frozen=True)
class Positions:
    """Of one bug: its round, its raters in the order of their user names, and what each said and says."""

    bug: Bug
    round: Round
    raters: tuple[User, ...]
    blind: Given
    second: Given
    stands: dict[tuple[int, int], Stand]  # rater id, facet id
    turns: dict[int, Assignment]  # by rater id

    def before(self, rater_id: int, facet_id: int) -> Label:
        """The rater's own latest answer: a second look, else the blind one; empty where there is none."""
        return self.second.get(rater_id, {}).get(facet_id) or self.blind.get(rater_id, {}).get(facet_id, ())

    def standing(self, rater_id: int, facet_id: int) -> Label:
        """What the rater stands by now."""
        stand = self.stands.get((rater_id, facet_id))
        return in_order(stand.categories.all()) if stand else self.before(rater_id, facet_id)

    def is_confirmed(self, facet_id: int) -> bool:
        """Every rater of the bug has confirmed one and the same label after the close."""
        if any((rater.pk, facet_id) not in self.stands for rater in self.raters):
            return False
        labels = {ids(self.standing(rater.pk, facet_id)) for rater in self.raters}
        return len(labels) == 1 and labels != {frozenset()}

    def differs_from_all(self, facet_id: int, label: Iterable[int]) -> bool:
        wanted = frozenset(label)
        return all(
            wanted != ids(given.get(rater.pk, {}).get(facet_id, ()))
            for given in (self.blind, self.second)
            for rater in self.raters
        )


def ids(label: Iterable[Category]) -> frozenset[int]:
    return frozenset(category.pk for category in label)


def in_order(categories: Iterable[Category]) -> Label:
    return tuple(sorted(categories, key=lambda category: (category.position, category.pk)))


def basis_of(bug: Bug) -> Round | None:
    """The latest round whose word counts for the bug: closed or imported, main or relabel, and no mere second look."""
    rows = (
        Answer.objects.current()
        .filter(bug=bug, round__in=final_rounds(bug.study_id))
        .values_list("round", "rater")
        .distinct()
    )
    raters: dict[int, set[int]] = defaultdict(set)
    for round_id, rater in rows:
        raters[round_id].add(rater)
    found = sorted(Round.objects.select_related("study").filter(pk__in=raters), key=lambda one: one.number)
    while found:
        last = found.pop()
        earlier = set().union(*(raters[one.pk] for one in found))
        if last.kind != Round.Kind.RELABEL or len(raters[last.pk]) > 1 or not earlier - raters[last.pk]:
            return last
    return None


def positions_of(bug: Bug, basis: Round) -> Positions:
    """A fixed number of queries. Rounds that are open are never read."""
    later = Round.objects.with_agreement().filter(
        study=basis.study_id, kind=Round.Kind.RELABEL, number__gt=basis.number
    )
    given = Answer.objects.current().filter(bug=bug).select_related("category__parent", "rater")
    blind = list(given.filter(round=basis).order_by("facet", "slot"))
    second = list(given.filter(round__in=later).order_by("round__number", "facet", "slot"))
    people = {answer.rater_id: answer.rater for answer in blind}
    stands = (
        Stand.objects.filter(bug=bug, is_current=True).select_related("rater").prefetch_related("categories__parent")
    )
    turns = Assignment.objects.filter(round=basis, bug=bug, rater__in=people)
    return Positions(
        bug=bug,
        round=basis,
        raters=tuple(sorted(people.values(), key=lambda person: person.username)),
        blind=_given(blind),
        second=_given(second),
        stands={(stand.rater_id, stand.facet_id): stand for stand in stands},
        turns={turn.rater_id: turn for turn in turns},
    )


def _given(answers: Iterable[Answer]) -> Given:
    """The last round's word counts where a rater looked again more than once."""
    rows: dict[tuple[int, int], tuple[int, list[Category]]] = {}
    for answer in answers:
        place = (answer.rater_id, answer.facet_id)
        round_id, label = rows.get(place, (answer.round_id, []))
        rows[place] = (answer.round_id, [*(label if round_id == answer.round_id else []), answer.category])
    out: Given = defaultdict(dict)
    for (rater, facet), (_, label) in rows.items():
        out[rater][facet] = in_order(label)
    return dict(out)


@dataclass(frozen=True)
class Side:
    """One rater's side of a dispute as the page shows it."""

    letter: str
    name: str  # empty where names are hidden
    rater: User
    label: Label
    second: Label
    stand: Stand | None
    confidence: str
    note: str
    reason: str  # why it is not a bug
    pins: tuple[Evidence, ...]
    others: tuple[tuple[str, str], ...] = ()  # beside a disputed verdict: what this rater answered otherwise


def sides_of(positions: Positions, facet: Facet, *, names_hidden: bool) -> tuple[Side, ...]:
    """Shuffled by bug, repeatably: no rater is always A."""
    order = shuffled(positions)
    reasons = _reasons(positions)
    pins: dict[int, list[Evidence]] = defaultdict(list)
    turns = list(positions.turns.values())
    for pin in Evidence.objects.filter(assignment__in=turns, is_current=True).select_related("assignment"):
        pins[pin.assignment.rater_id].append(pin)
    return tuple(
        _side(positions, facet, letter, rater, tuple(pins[rater.pk]), reasons=reasons, names_hidden=names_hidden)
        for letter, rater in zip(LETTERS, order, strict=False)
    )


def _reasons(positions: Positions) -> dict[str, str]:
    """Why it is not a bug, by the uid that the turn keeps."""
    given = [turn.not_a_bug_reason for turn in positions.turns.values() if turn.not_a_bug_reason]
    return dict(Category.objects.filter(uid__in=given).values_list("uid", "name")) if given else {}


def shuffled(positions: Positions) -> list[User]:
    order = list(positions.raters)
    seed = f"{positions.round.study_id}:{positions.round.number}:{positions.round.seed}:{positions.bug.number}"
    random.Random(seed).shuffle(order)  # noqa: S311  # repeatable, not secret
    return order


def _side(
    positions: Positions,
    facet: Facet,
    letter: str,
    rater: User,
    pins: tuple[Evidence, ...],
    *,
    reasons: dict[str, str],
    names_hidden: bool,
) -> Side:
    turn = positions.turns.get(rater.pk)
    return Side(
        letter=letter,
        name="" if names_hidden else str(rater),
        rater=rater,
        label=positions.blind.get(rater.pk, {}).get(facet.pk, ()),
        second=positions.second.get(rater.pk, {}).get(facet.pk, ()),
        stand=positions.stands.get((rater.pk, facet.pk)),
        confidence=turn.get_confidence_display() if turn and turn.confidence else "",
        note=turn.note if turn else "",
        reason=reasons.get(turn.not_a_bug_reason, turn.not_a_bug_reason) if turn else "",
        pins=pins,
    )
