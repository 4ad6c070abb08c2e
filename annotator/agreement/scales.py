"""The questions of a round as they stood in it: which categories a facet offered, in which order, under which names."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotator.codebook.models import Category, Facet, Version
from annotator.labeling.models import Round

ANSWERED, TOP = "answered", "top"
LEVELS = (ANSWERED, TOP)  # and v1, v2, …: mapped to that version of the codebook


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
    shares_codes: bool = False  # the raters saw each other's codes at once
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

    def mapped(self, then: Mapping[str, Any]) -> "Scale":
        """The same facet with every answer counted as what took its category's place by that version, under its name.

        A category that was split keeps its answers: which part they meant is not guessed.
        """
        places = {each["id"]: each["merged_into"] for each in then["categories"] if each.get("merged_into")}
        choices = tuple(c for c in _published(then, list(self.choices)) if c.uid not in places)
        is_ordinal = then.get("kind") == Facet.Kind.ORDINAL
        return replace(
            self,
            name=then.get("name", self.name),
            choices=choices if is_ordinal else tuple(replace(choice, rank=None) for choice in choices),
            uids={pk: places.get(uid, uid) for pk, uid in self.uids.items()},
            tops=_tops(_parents_as_published(then, list(choices))),
        )

    def merged(self, places: Mapping[str, str]) -> "Scale":
        """As if each of these categories had been merged into another one; ids by ids."""
        return replace(
            self,
            choices=tuple(choice for choice in self.choices if choice.uid not in places),
            uids={pk: places.get(uid, uid) for pk, uid in self.uids.items()},
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
    """The round's facets in the codebook's order, the verdict last: as answered, at the top, or mapped to a version."""
    found = _as_answered(round_)
    if level == TOP:
        return [scale.at_top() for scale in found]
    if (number := version_of(level)) is None:
        return found
    version = Version.objects.get(codebook__study=round_.study_id, number=number)
    then = {facet["id"]: facet for facet in version.document["facets"]}
    return [s if s.is_verdict or s.key not in then else s.mapped(then[s.key]) for s in found]


def version_of(level: str) -> int | None:
    """The version to which answers are mapped, where the level names one."""
    found = re.fullmatch(r"v([1-9]\d{0,8})", level, re.ASCII)
    return int(found[1]) if found else None


def _as_answered(round_: Round) -> list[Scale]:
    facets = list(Facet.objects.filter(codebook__study_id=round_.study_id).order_by("position", "pk"))
    live: dict[int, list[Category]] = {facet.pk: [] for facet in facets}
    for category in Category.objects.filter(facet__in=facets).order_by("position", "pk"):
        live[category.facet_id].append(category)
    then = _as_published(round_)
    found = [
        _scale(round_, facet, live[facet.pk], then.get(facet.key))
        for facet in facets
        if facet.retired_at is None or facet.key in then
    ]
    return sorted(found, key=lambda scale: scale.is_verdict)


def _as_published(round_: Round) -> dict[str, dict[str, Any]]:
    """The facets of the codebook's version in force at the round's close, or at the latest sheet of an imported one."""
    if round_.codebook_version is None:
        return {}
    return {facet["id"]: facet for facet in round_.codebook_version.document.get("facets", ())}


def _scale(round_: Round, facet: Facet, categories: list[Category], then: dict[str, Any] | None) -> Scale:
    """Codes are grouped, and merged, after the answers: their tree is that of today."""
    takes_codes = bool(then.get("takes_codes")) if then else facet.takes_codes
    is_grouped_later = takes_codes or round_.state == Round.State.IMPORTED
    if facet.is_verdict:
        return _verdict(facet, categories, then)
    uids = {category.pk: category.uid for category in categories}
    choices = [
        Choice(category.uid, category.name, category.rank, category.state == Category.State.ACTIVE)
        for category in categories
    ]
    above = {category.uid: category.merged_into_id or category.parent_id for category in categories}
    parents = {uid: uids[pk] for uid, pk in above.items() if pk}
    is_ordinal, is_many, decided = facet.kind == Facet.Kind.ORDINAL, facet.is_many, facet.decided
    if then is not None:
        if not is_grouped_later:
            parents |= _parents_as_published(then, choices)
        choices = _published(then, choices)
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
        shares_codes=round_.shares_codes and takes_codes,
    )


def _tops(parents: Mapping[str, str]) -> dict[str, str]:
    """From each category below another to the one at the top."""

    def top(uid: str) -> str:
        return top(parents[uid]) if parents.get(uid) else uid

    return {uid: top(uid) for uid, parent in parents.items() if parent}


def _parents_as_published(then: Mapping[str, Any], live: list[Choice]) -> dict[str, str]:
    """The tree as it stood: a version gives a parent by its name, where an active category comes first."""
    by_name = {choice.name: choice.uid for choice in live}
    listed = sorted(then.get("categories", ()), key=lambda each: not each.get("retired"))
    uids = {each["name"]: _uid(each, by_name) for each in listed}
    return {_uid(each, by_name): uids.get(each.get("parent", ""), "") for each in listed}


def _published(then: Mapping[str, Any], live: list[Choice]) -> list[Choice]:
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


def _verdict(facet: Facet, categories: list[Category], then: dict[str, Any] | None) -> Scale:
    """Bug or not a bug: the reasons below "not a bug" count as it."""
    uids = {category.pk: category.uid for category in categories}
    parents = {category.uid: uids[category.parent_id] for category in categories if category.parent_id}
    choices = [Choice(category.uid, category.name) for category in categories]
    if then is not None:
        parents |= _parents_as_published(then, choices)
        choices = [replace(choice, rank=None) for choice in _published(then, choices)]
    tops = _tops(parents)
    not_a_bug = next((c.uid for c in choices if c.name == Category.NOT_A_BUG and c.uid not in tops), "")
    return Scale(
        facet_id=facet.pk,
        key=facet.key,
        name=then.get("name", facet.name) if then else facet.name,
        choices=tuple(choice for choice in choices if choice.uid not in tops),
        uids={pk: tops.get(uid, uid) for pk, uid in uids.items()},
        not_a_bug=not_a_bug,
    )
