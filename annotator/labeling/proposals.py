"""Codes that raters propose while they label: their own until the round closes, then accepted, merged or refused."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.codebook import living, publishing
from annotator.codebook.choices import Choices
from annotator.codebook.models import Category, Change, Codebook, Facet
from annotator.codebook.queries import folded
from annotator.codebook.reading import NAME
from annotator.codebook.similar import Pair, nearest
from annotator.codebook.texts import checked
from annotator.history.actions import record
from annotator.labeling.models import Answer, Assignment, Proposal, Round
from annotator.labeling.places import share_round
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

CState, State = Category.State, Proposal.State
LONGEST_EXAMPLE = 2_000
MOST_OF_ONE = 500  # codes that one rater proposes in one round


# --- while labelling


@transaction.atomic
def propose(
    *, assignment: Assignment, facet: Facet, name: str, definition: str, example: str = "", by: User
) -> Proposal:
    """A code of the rater's own, to be chosen from now on in this round. Nobody else learns of it before the close."""
    share_round(assignment.round_id)
    round_ = Round.objects.get(pk=assignment.round_id)
    _refuse(assignment, facet, round_, by=by)
    name = " ".join(checked(name, "name of the code", longest=NAME).split())
    definition = checked(definition, "definition of the code")
    example = checked(example, "example", longest=LONGEST_EXAMPLE, is_needed=False)
    _refuse_taken(facet, round_, name, by=by)
    category = Category.objects.create(
        facet=facet,
        name=name,
        definition=definition,
        state=CState.PROPOSED,
        is_code=True,
        position=_last_position(facet) + 1,
    )
    proposal = Proposal.objects.create(assignment=assignment, category=category, example=example)
    record(
        "proposed a code",
        by=by,
        kind="proposal",
        object_id=proposal.pk,
        label=name,
        study_id=round_.study_id,
        round_id=None if round_.shares_codes else round_.pk,
        new={"facet": facet.key, "definition": definition, "example": example},
    )
    return proposal


def _refuse(assignment: Assignment, facet: Facet, round_: Round, *, by: User) -> None:
    if assignment.rater_id != by.pk:
        raise Refused("This is another rater's turn. Nothing was stored.")
    if not round_.is_open:
        raise Refused("The round is closed: its answers stand, and a code comes in with the next round.")
    if not takes_codes(facet):
        raise Refused(
            f"{facet.name} takes no codes of raters. Choose a category, and say in the rationale what is missing."
        )


def facet_of(round_: Round, key: str) -> Facet:
    found = Facet.objects.filter(codebook__study=round_.study_id, key=key, retired_at=None).first()
    if found is None:
        raise BadInput(f"The codebook has no facet “{key}”.")
    return found


def takes_codes(facet: Facet) -> bool:
    return facet.takes_codes and facet.decided == Facet.Decided.BLIND and facet.retired_at is None


def _refuse_taken(facet: Facet, round_: Round, name: str, *, by: User) -> None:
    """Only what the rater can choose already: another's code under the same name must not be told."""
    mine = [proposal.category for proposal in shown_to(round_, by.pk).select_related("category")]
    if len(mine) >= MOST_OF_ONE:
        raise Refused(f"More than {MOST_OF_ONE} codes are proposed in this round. Choose one of them.")
    known = [*facet.categories.filter(state=CState.ACTIVE), *(code for code in mine if code.facet_id == facet.pk)]
    same = next((category for category in known if folded(category.name) == folded(name)), None)
    if same:
        raise BadInput(f"“{same.name}” is there already: choose it.")


def _last_position(facet: Facet) -> int:
    return facet.categories.order_by("-position").values_list("position", flat=True).first() or 0


def shown_to(round_: Round, rater: int) -> "QuerySet[Proposal]":
    """The codes of the round that the rater can choose: own ones, and those of all where the round shares them."""
    rows = Proposal.objects.filter(assignment__round=round_, state=State.NEW)
    return (rows if round_.shares_codes else rows.filter(assignment__rater=rater)).order_by("pk")


@dataclass(frozen=True)
class Code:
    """A proposed code as its rater's page offers it."""

    facet: str
    uid: str
    name: str
    definition: str
    example: str
    is_mine: bool


def codes_for(round_: Round, rater: int) -> list[Code]:
    rows = shown_to(round_, rater).values_list(
        "category__facet__key", "category__uid", "category__name", "category__definition", "example",
        "assignment__rater_id",
    )  # fmt: skip
    return [Code(*row[:5], is_mine=row[5] == rater) for row in rows]


def with_codes(choices: Choices, round_: Round, rater: int) -> Choices:
    """The choices, and the codes that this rater can choose in this round. No query where no facet takes codes."""
    if not any(facet.takes_codes for facet in choices.facets.values()):
        return choices
    rows = shown_to(round_, rater).values_list("category__facet__key", "category__uid", "category__name", "category_id")
    codes: dict[str, list[tuple[str, str, int]]] = {}
    for key, uid, name, pk in rows:
        codes.setdefault(key, []).append((uid, name, pk))
    facets = {
        key: replace(
            facet,
            categories=facet.categories | {uid: pk for uid, _, pk in codes[key]},
            names=facet.names | {uid: name for uid, name, _ in codes[key]},
        )
        if key in codes
        else facet
        for key, facet in choices.facets.items()
    }
    return replace(choices, facets=facets)


# --- after the close


def hidden_codes(study: Study) -> "QuerySet[Category]":
    """Codes of open rounds, which nobody but their proposers may learn of."""
    mine = Proposal.objects.filter(category=OuterRef("pk"), assignment__round__state=Round.State.OPEN)
    return Category.objects.filter(Exists(mine), facet__codebook__study=study, state=CState.PROPOSED)


@dataclass(frozen=True)
class Waiting:
    """A proposal of a closed round, what is nearly called the same, and how often it was answered."""

    proposal: Proposal
    near: tuple[tuple[Category, Pair], ...]
    others: tuple[Category, ...]  # that it may be merged into
    answers: int


def of_study(study: Study, *, round_: Round | None = None) -> "QuerySet[Proposal]":
    """Those of rounds that are no longer open, the undecided first."""
    rows = Proposal.objects.filter(assignment__round__study=study).exclude(assignment__round__state=Round.State.OPEN)
    if round_ is not None:
        rows = rows.filter(assignment__round=round_)
    return rows.select_related(
        "category__facet", "category__merged_into", "assignment__rater", "assignment__bug__item__repository",
        "assignment__round", "settled_by",
    ).order_by("pk")  # fmt: skip


def waiting(study: Study, *, round_: Round | None = None) -> list[Waiting]:
    """With near-duplicates among the categories in use and the other proposals, whoever made them."""
    rows = list(of_study(study, round_=round_).filter(state=State.NEW))
    others: dict[int, list[Category]] = {}
    for category in Category.objects.filter(
        Q(state=CState.ACTIVE) | Q(pk__in=[row.category_id for row in rows]),
        facet__in={row.category.facet_id for row in rows},
        is_not_applicable=False,
    ).order_by("position", "pk"):
        others.setdefault(category.facet_id, []).append(category)
    counts = _answers([row.category_id for row in rows])
    return [
        Waiting(
            proposal=row,
            near=tuple(_near(row, others)),
            others=tuple(one for one in others[row.category.facet_id] if one.pk != row.category_id),
            answers=counts.get(row.category_id, 0),
        )
        for row in rows
    ]


def _near(row: Proposal, others: Mapping[int, Sequence[Category]]) -> Iterable[tuple[Category, Pair]]:
    candidates = [one for one in others[row.category.facet_id] if one.pk != row.category_id]
    for pair in nearest(row.category.name, [one.name for one in candidates], most=4):
        yield candidates[pair.second], pair


def _answers(categories: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for pk in Answer.objects.current().filter(category__in=categories).values_list("category_id", flat=True):
        found[pk] = found.get(pk, 0) + 1
    return found


@transaction.atomic
def accept(*, proposal: Proposal, by: User, name: str = "", parent: str = "") -> Category:
    """The code becomes one of the codebook's, under another name where one is given; its answers stay with it."""
    proposal, codebook = _taken(proposal)
    category = proposal.category
    old = category.name
    category.name = " ".join(checked(name, "name", longest=NAME).split()) if name.strip() else old
    category.parent = _parent(category, parent)
    _bring_in(category, proposal)
    publishing.check(codebook, category.facet, [category])
    category.save()
    reason = f"{publishing.short(category.name)} accepted into {category.facet.name}"
    version = publishing.settle(codebook, by=by, reason=reason)
    new = {"names": {category.uid: category.name}}
    publishing.note(
        version, act=Change.Act.ADD, facet=category.facet, categories=[category.uid], new=new, by=by, reason=reason
    )
    category.refresh_from_db()
    _settle(proposal, State.ACCEPTED, by=by, verb="accepted a code", old=old, new=category.name)
    return category


def _parent(category: Category, uid: str) -> Category | None:
    if not uid:
        return None
    found = category.facet.categories.filter(uid=uid, state=CState.ACTIVE, is_not_applicable=False).first()
    if found is None:
        raise BadInput("That category is not in use any more. Choose another.")
    return found


def _bring_in(category: Category, proposal: Proposal) -> None:
    category.position, category.state = _last_position(category.facet) + 1, CState.ACTIVE
    category.added_in = category.facet.codebook.number + 1
    if proposal.example and proposal.example not in category.examples:
        category.examples = [*category.examples, proposal.example]
    if category.facet.kind == Facet.Kind.ORDINAL and category.rank is None:
        top = category.facet.categories.filter(state=CState.ACTIVE).aggregate(top=Max("rank"))["top"]
        category.rank = (top or 0) + 1


@transaction.atomic
def merge(*, proposal: Proposal, into: Category, by: User, reason: str = "") -> Change:
    """The code was another's: its answers stay as they are and count as that one."""
    category = proposal.category
    if into.state != CState.ACTIVE or into.facet_id != category.facet_id or into.pk == category.pk:
        raise BadInput(
            "Choose a category in use of the same facet. Accept the proposal that it is to be merged into first."
        )
    why = reason.strip() or f"Proposed for what “{publishing.short(into.name)}” says already"
    proposal, _ = _taken(proposal)
    source = Category.objects.select_related("facet__codebook", "parent").get(pk=category.pk)
    change = living.merge_categories(sources=[source], into=into, reason=why, by=by)
    _settle(proposal, State.MERGED, by=by, verb="merged a proposed code", old=source.name, new=into.name, why=why)
    return change


@transaction.atomic
def refuse(*, proposal: Proposal, reason: str, by: User) -> Proposal:
    """It is not taken up. Answers with it stay as they were given; what they settled has to be settled anew."""
    reason = checked(reason, "reason", longest=living.LONGEST)
    proposal, _ = _taken(proposal)
    category = proposal.category
    category.state = CState.REFUSED
    category.save(update_fields=["state"])
    return _settle(proposal, State.REFUSED, by=by, verb="refused a code", old=category.name, why=reason)


def _taken(proposal: Proposal) -> tuple[Proposal, Codebook]:
    codebook = publishing.lock(Codebook.objects.get(facets__categories=proposal.category_id))
    rows = Proposal.objects.select_for_update(of=("self",)).select_related("category__facet", "assignment__round")
    proposal = rows.get(pk=proposal.pk)
    proposal.category.facet.codebook = codebook
    if proposal.assignment.round.is_open:
        raise Refused("The round is open: its codes are their proposers' own until it closes.")
    if proposal.state != State.NEW:
        raise Refused(f"“{proposal.category.name}” is settled already: {proposal.get_state_display().lower()}.")
    return proposal, codebook


def _settle(
    proposal: Proposal, state: str, *, by: User, verb: str, old: str, new: str | None = None, why: str = ""
) -> Proposal:
    proposal.state, proposal.reason = state, why
    proposal.settled_by, proposal.settled_at = by, timezone.now()
    proposal.save(update_fields=["state", "reason", "settled_by", "settled_at"])
    record(
        verb,
        by=by,
        kind="proposal",
        object_id=proposal.pk,
        label=proposal.category.name,
        study_id=proposal.assignment.round.study_id,
        old=old,
        new=new,
        why=why,
    )
    return proposal
