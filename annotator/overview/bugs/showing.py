"""The bugs of a study: the list with its filters, and all that may be shown of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, Case, Exists, OuterRef, Q, QuerySet, When

from annotator.accounts.models import User
from annotator.adjudication.item import letters_of
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.positions import positions_of
from annotator.adjudication.queries import final_labels, still_meant
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer, Assignment, Evidence, Flag, Round, RoundBug
from annotator.overview.bugs import standing
from annotator.overview.rounds.choosing import in_a_main_round
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.numbers import whole

PAGE = 50
OPEN, SETTLED, FREE, LABELLED = "disputed", "settled", "free", "labelled"
STATES = [
    ("", "any"),
    (FREE, "not yet in a main round"),
    (OPEN, "with an open dispute"),
    (SETTLED, "with a final label"),
    (LABELLED, "labelled"),
    *standing.PLACES.items(),
]
TELLING = (OPEN, SETTLED, LABELLED, standing.DENIED, *standing.LABELLED)  # what a bug's labels are, or that it has any


@dataclass(frozen=True)
class Filters:
    """What the list is narrowed to; all of it stands in the address."""

    words: str = ""
    repository: str = ""
    round: str = ""
    state: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)  # facet key → category uid


@dataclass(frozen=True)
class Row:
    number: int
    ordinal: int
    reference: str
    title: str
    rounds: tuple[str, ...]
    labels: tuple[str, ...]  # by facet, in the facets' order; empty: not settled


@dataclass(frozen=True)
class Page:
    rows: tuple[Row, ...]
    next_after: int | None
    previous_before: int | None


def asked(study: Study) -> list[Facet]:
    """The facets that have final labels to show, the verdict apart."""
    facets = Facet.objects.filter(codebook__study=study, retired_at=None).exclude(key=Facet.VERDICT)
    return list(facets.order_by("position", "pk"))


def narrowed(study: Study, filters: Filters, *, viewer: User) -> "QuerySet[Bug]":
    bugs = Bug.objects.filter(study=study)
    if filters.words:
        named = Q(item__title__icontains=filters.words)
        if filters.words.lstrip("#").isdecimal() and len(filters.words) < 19:  # fits its column
            named |= Q(item__number=int(filters.words.lstrip("#")))
        if (number := whole(filters.words)) is not None:
            named |= Q(number=number)
        bugs = bugs.filter(named)
    if filters.repository:
        bugs = bugs.filter(item__repository__label=filters.repository)
    if number := whole(filters.round):
        of_round = RoundBug.objects.filter(bug=OuterRef("pk"), round__number=number, round__study=study)
        bugs = bugs.filter(Exists(of_round))
    if any(filters.labels.values()) or filters.state in TELLING:
        bugs = bugs.exclude(_in_hand(viewer))  # what is not shown is not found by either
    for facet, uid in filters.labels.items():
        bugs = bugs.filter(Exists(_final(study).filter(label_uid=uid, facet__key=facet)))
    return _in_state(study, bugs, filters.state)


def _in_state(study: Study, bugs: "QuerySet[Bug]", state: str) -> "QuerySet[Bug]":
    if state == FREE:
        return bugs.filter(~in_a_main_round())
    if state == OPEN:
        return bugs.filter(Exists(Dispute.objects.filter(bug=OuterRef("pk"), is_open=True)))
    if state == SETTLED:
        return bugs.filter(Exists(_final(study)))
    if state == LABELLED:
        return bugs.filter(pk__in=standing.labelled(study).values("pk"))
    if state in standing.PLACES:
        return bugs.filter(pk__in=standing.placed(study).filter(place=state).values("pk"))
    return bugs


def _final(study: Study) -> "QuerySet[Any]":
    """The final labels of the bug at hand."""
    return final_labels(study).filter(bug=OuterRef("pk"))


def page(
    study: Study, filters: Filters, facets: Sequence[Facet], *, viewer: User, after: int = 0, before: int | None = None
) -> Page:
    """By number, from one side or the other; the whole is never counted."""
    bugs = narrowed(study, filters, viewer=viewer).select_related("item__repository")
    if before is not None:
        found = list(bugs.filter(number__lt=before).order_by("-number")[: PAGE + 1])
        shown, has_next, has_previous = found[:PAGE][::-1], True, len(found) > PAGE
    else:
        found = list(bugs.filter(number__gt=after).order_by("number")[: PAGE + 1])
        shown, has_next, has_previous = found[:PAGE], len(found) > PAGE, after > 0
    return Page(
        rows=tuple(_rows(study, shown, facets, viewer=viewer)),
        next_after=shown[-1].number if shown and has_next else None,
        previous_before=shown[0].number if shown and has_previous else None,
    )


def meant(study: Study, filters: Filters, found: Page) -> int | None:
    """The number of the bug that a search leads to: the one so numbered, else the only one that it finds."""
    number = whole(filters.words)
    if number is not None and Bug.objects.filter(study=study, number=number).exists():
        return number
    return found.rows[0].number if len(found.rows) == 1 and found.next_after is None else None


def _rows(study: Study, bugs: Sequence[Bug], facets: Sequence[Facet], *, viewer: User) -> list[Row]:
    ids = [bug.pk for bug in bugs]
    hidden = in_hand(bugs, viewer)
    labels: dict[tuple[int, int], list[str]] = {}
    settled = final_labels(study).filter(bug__in=set(ids) - hidden)
    for bug, facet, name in settled.order_by("slot").values_list("bug_id", "facet_id", "label_name"):
        labels.setdefault((bug, facet), []).append(name)
    rounds: dict[int, list[str]] = {}
    for bug, name in (
        RoundBug.objects.filter(bug__in=ids).order_by("round__number").values_list("bug_id", "round__name")
    ):
        rounds.setdefault(bug, []).append(name)
    return [
        Row(
            number=bug.number,
            ordinal=bug.ordinal,
            reference=bug.item.reference,
            title=bug.item.title or bug.item.reference,
            rounds=tuple(rounds.get(bug.pk, ())),
            labels=tuple(", ".join(labels.get((bug.pk, facet.pk), ())) for facet in facets),
        )
        for bug in bugs
    ]


def in_hand(bugs: Sequence[Bug], viewer: User) -> set[int]:
    """Bugs that the viewer has to label again: earlier labels would sway the second look."""
    return set(Bug.objects.filter(_in_hand(viewer), pk__in=[bug.pk for bug in bugs]).values_list("pk", flat=True))


def _in_hand(viewer: User) -> Exists:
    return Exists(Assignment.objects.filter(rater=viewer, bug=OuterRef("pk"), round__state=Round.State.OPEN))


# --- one bug


@dataclass(frozen=True)
class Given:
    """One rater's answers on the bug in a round that is no longer open."""

    turn: Assignment
    name: str  # of the rater, or a letter where names are hidden
    answers: tuple[tuple[Facet, str, bool], ...]  # facet, category, flagged by its rater
    evidence: tuple[Evidence, ...]

    @property
    def note(self) -> str:
        return self.turn.note or " ".join(filter(None, (self.turn.skip_reason, self.turn.skip_note)))


def given(bug: Bug, viewer: User, *, is_nameless: bool = False) -> list[Given]:
    """What raters answered, round by round. Nothing of an open round, not even the viewer's own.

    Without names raters are letters, in an order that differs from bug to bug.
    """
    turns = Assignment.objects.visible_to(viewer).filter(bug=bug).exclude(round__state=Round.State.OPEN)
    turns = turns.filter(Q(state=Assignment.State.SUBMITTED) | Q(state=Assignment.State.SKIPPED))
    rows = list(turns.select_related("round", "rater").order_by("round__number", "rater__username"))
    names = _nameless(bug, rows) if is_nameless else {turn.rater_id: turn.rater.username for turn in rows}
    rows.sort(key=lambda turn: (turn.round.number, names[turn.rater_id]))
    answers: dict[int, list[Answer]] = {}
    current = (
        Answer.objects.current().visible_to(viewer).filter(assignment__in=rows).select_related("facet", "category")
    )
    for answer in current.order_by("facet__position", "facet_id", "slot"):
        answers.setdefault(answer.assignment_id, []).append(answer)
    evidence: dict[int, list[Evidence]] = {}
    for quote in Evidence.objects.filter(assignment__in=rows, is_current=True).order_by("position"):
        evidence.setdefault(quote.assignment_id, []).append(quote)
    flagged = set(
        Flag.objects.filter(assignment__in=rows, state=Flag.State.NEW).values_list("assignment_id", "facet_id")
    )
    return [
        Given(
            turn=turn,
            name=names[turn.rater_id],
            answers=tuple(
                (answer.facet, answer.category.name, (turn.pk, answer.facet_id) in flagged)
                for answer in answers.get(turn.pk, ())
                if not (answer.facet.is_verdict and answer.category.name == Category.BUG)
            ),
            evidence=tuple(evidence.get(turn.pk, ())),
        )
        for turn in rows
    ]


def _nameless(bug: Bug, rows: Sequence[Assignment]) -> dict[int, str]:
    """The letters that the queue of disputes uses; raters who are not in it have none."""
    basis = Dispute.objects.filter(bug=bug, is_open=True).select_related("round").first()
    letters = letters_of(positions_of(bug, basis.round)) if basis else {}
    return {turn.rater_id: f"Rater {letters.get(turn.rater_id, '')}".rstrip() for turn in rows}


def settled(bug: Bug) -> list[Resolution]:
    """The bug's final labels with where they came from, in the codebook's order; also those to be given again."""
    rows = Resolution.objects.filter(bug=bug, is_current=True).select_related(
        "recorded_by", "facet", "category__merged_into", "by", "round"
    )
    rows = rows.annotate(is_meant=Case(When(still_meant(), then=True), default=False, output_field=BooleanField()))
    usual = Q(facet__key=Facet.VERDICT, category__name=Category.BUG)  # goes without saying
    return list(rows.exclude(usual).order_by("facet__position", "facet_id", "slot"))


def disputed(bug: Bug) -> list[str]:
    """Names of the facets on which a decision is still to come."""
    rows = Dispute.objects.filter(bug=bug, is_open=True).order_by("facet__position", "facet_id")
    return list(rows.values_list("facet__name", flat=True))


def rounds_of(bug: Bug) -> list[Round]:
    return list(Round.objects.filter(round_bugs__bug=bug).order_by("number"))


def siblings(bug: Bug) -> list[tuple[int, int]]:
    """Number and ordinal of the item's bugs."""
    return list(Bug.objects.filter(item=bug.item_id).order_by("ordinal").values_list("number", "ordinal"))


def neighbours(bug: Bug) -> tuple[int | None, int | None]:
    around = Bug.objects.filter(study=bug.study_id)
    before = around.filter(number__lt=bug.number).order_by("-number").values_list("number", flat=True).first()
    after = around.filter(number__gt=bug.number).order_by("number").values_list("number", flat=True).first()
    return before, after
