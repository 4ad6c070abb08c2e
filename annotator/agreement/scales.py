"""The questions of a round as they stood in it: which categories a facet offered, in which order, under which names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Round

ANSWERED, TOP = "answered", "top"
LEVELS = (ANSWERED, TOP)


@dataclass(frozen=True)
class Choice:
    """A category by its permanent name; `rank` is its place on a declared scale, `is_offered` whether raters could take it."""

    uid: str
    name: str
    rank: float | None = None
    is_offered: bool = True


@dataclass(frozen=True)
class Scale:
    """A facet of a round. `uids` leads from a category's id to the permanent name under which it is counted."""

    facet_id: int
    key: str
    name: str
    choices: tuple[Choice, ...]
    uids: Mapping[int, str]
    is_many: bool = False
    decided: str = Facet.Decided.BLIND
    not_a_bug: str = ""  # in the verdict: the permanent name of "not a bug"
    tops: Mapping[str, str] = field(default_factory=dict)  # of each category below another: the one at the top

    def at_top(self) -> "Scale":
        """The same facet with every answer counted as the category that stands above it."""
        if not self.tops:
            return self
        offered = {self.tops.get(choice.uid, choice.uid) for choice in self.choices if choice.is_offered}
        return replace(
            self,
            choices=tuple(
                replace(choice, is_offered=choice.uid in offered)
                for choice in self.choices
                if choice.uid not in self.tops
            ),
            uids={pk: self.tops.get(uid, uid) for pk, uid in self.uids.items()},
            tops={},
        )

    @property
    def is_verdict(self) -> bool:
        return self.key == Facet.VERDICT

    @property
    def order(self) -> tuple[str, ...]:
        """The declared scale, lowest first; empty where there is none."""
        ranked = [choice for choice in self.choices if choice.rank is not None and choice.is_offered]
        return tuple(choice.uid for choice in sorted(ranked, key=lambda choice: choice.rank or 0))

    def listed(self, used: Iterable[str]) -> tuple[Choice, ...]:
        """The categories that were offered, and those used all the same, in the codebook's order."""
        given = frozenset(used)
        return tuple(choice for choice in self.choices if choice.is_offered or choice.uid in given)

    def ids_of(self, uid: str) -> list[int]:
        return [pk for pk, name in self.uids.items() if name == uid]


def scales_of(round_: Round, *, level: str = ANSWERED) -> list[Scale]:
    """The round's facets in the codebook's order, the verdict last."""
    found = _as_answered(round_)
    return [scale.at_top() for scale in found] if level == TOP else found


def _as_answered(round_: Round) -> list[Scale]:
    facets = list(Facet.objects.filter(codebook__study_id=round_.study_id).order_by("position", "pk"))
    live: dict[int, list[Category]] = {facet.pk: [] for facet in facets}
    for category in Category.objects.filter(facet__in=facets).order_by("position", "pk"):
        live[category.facet_id].append(category)
    then = _as_published(round_)
    found = [
        _scale(facet, live[facet.pk], then.get(facet.key))
        for facet in facets
        if facet.retired_at is None or facet.key in then
    ]
    return sorted(found, key=lambda scale: scale.is_verdict)


def _as_published(round_: Round) -> dict[str, dict[str, Any]]:
    """The facets of the codebook's version that the round was opened with, by key; an imported round has none."""
    if round_.state == Round.State.IMPORTED or round_.codebook_version is None:
        return {}
    return {facet["id"]: facet for facet in round_.codebook_version.document.get("facets", ())}


def _scale(facet: Facet, categories: list[Category], then: dict[str, Any] | None) -> Scale:
    if facet.is_verdict:
        return _verdict(facet, categories)
    uids = {category.pk: category.uid for category in categories}
    choices = [
        Choice(category.uid, category.name, category.rank, category.state == Category.State.ACTIVE)
        for category in categories
    ]
    parents = {category.uid: uids[category.parent_id] for category in categories if category.parent_id}
    is_ordinal, is_many, decided = facet.kind == Facet.Kind.ORDINAL, facet.is_many, facet.decided
    if then is not None:
        choices, parents = _published(then, choices), parents | _parents_as_published(then, choices)
        is_ordinal, is_many = then.get("kind") == Facet.Kind.ORDINAL, then.get("answers") == "many"
        decided = then.get("decided", Facet.Decided.BLIND)
    if not is_ordinal:
        choices = [Choice(choice.uid, choice.name, None, choice.is_offered) for choice in choices]
    return Scale(
        facet_id=facet.pk,
        key=facet.key,
        name=then.get("name", facet.name) if then else facet.name,
        choices=tuple(choices),
        uids=uids,
        is_many=is_many,
        decided=decided,
        tops=_tops(parents),
    )


def _tops(parents: Mapping[str, str]) -> dict[str, str]:
    """From each category below another to the one at the top."""

    def top(uid: str) -> str:
        return top(parents[uid]) if parents.get(uid) else uid

    return {uid: top(uid) for uid, parent in parents.items() if parent}


def _parents_as_published(then: dict[str, Any], live: list[Choice]) -> dict[str, str]:
    """The tree as it stood: a version gives a parent by its name, where an active category comes first."""
    by_name = {choice.name: choice.uid for choice in live}
    listed = sorted(then.get("categories", ()), key=lambda each: not each.get("retired"))
    uids = {each["name"]: _uid(each, by_name) for each in listed}
    return {_uid(each, by_name): uids.get(each.get("parent", ""), "") for each in listed}


def _published(then: dict[str, Any], live: list[Choice]) -> list[Choice]:
    """The categories as published, and after them any that came later: those were not on offer."""
    by_name = {choice.name: choice.uid for choice in live}
    published = [
        Choice(
            uid=_uid(category, by_name),
            name=category["name"],
            rank=category.get("order"),
            is_offered=not (category.get("retired") or category.get("merged_into")),
        )
        for category in then.get("categories", ())
    ]
    known = {choice.uid for choice in published}
    return published + [Choice(c.uid, c.name, c.rank, False) for c in live if c.uid not in known]


def _uid(category: dict[str, Any], by_name: Mapping[str, str]) -> str:
    return str(category.get("id") or by_name.get(category["name"], ""))


def _verdict(facet: Facet, categories: list[Category]) -> Scale:
    """Bug or not a bug: the reasons below "not a bug" count as it."""
    by_id = {category.pk: category for category in categories}

    def top(category: Category) -> Category:
        while category.parent_id is not None:
            category = by_id[category.parent_id]
        return category

    tops = [category for category in categories if category.parent_id is None]
    not_a_bug = next((category.uid for category in tops if category.name == Category.NOT_A_BUG), "")
    return Scale(
        facet_id=facet.pk,
        key=facet.key,
        name=facet.name,
        choices=tuple(Choice(category.uid, category.name) for category in tops),
        uids={category.pk: top(category).uid for category in categories},
        not_a_bug=not_a_bug,
    )
