"""What is to be different in a facet or category; None leaves a thing as it is."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from annotator.codebook.models import Category, Change, Facet
from annotator.web.errors import BadInput


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetChange:
    """What is to be different; None leaves a thing as it is. Those below the line only while nothing stands on it."""

    name: str | None = None
    definition: str | None = None
    hotkey: str | None = None
    takes_codes: bool | None = None
    # ---
    kind: str | None = None
    is_many: bool | None = None
    is_optional: bool | None = None
    decided: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CategoryChange:
    """What is to be different; None leaves a thing as it is, an empty text empties it."""

    name: str | None = None
    parent: str | None = None  # uid, or empty for the top level
    definition: str | None = None
    include: str | None = None
    exclude: str | None = None
    examples: list[str] | None = None
    aka: list[str] | None = None
    hotkey: str | None = None
    rank: float | None = None
    is_unverified: bool | None = None
    is_code: bool | None = None


PLACE = ("parent", "rank", "is_code")
MEANING = ("definition", "include", "exclude")  # where it is said what a category means


def by_act(changed: Iterable[str]) -> dict[str, list[str]]:
    """What an edit is made of: a new name, a new place in the tree or on the scale, other words."""
    acts: dict[str, list[str]] = {}
    for name in changed:
        act = Change.Act.RENAME if name == "name" else Change.Act.MOVE if name in PLACE else Change.Act.CLARIFY
        acts.setdefault(act, []).append(name)
    return acts


def given_by(change: Any) -> dict[str, Any]:
    given = ((f.name, getattr(change, f.name)) for f in fields(change))
    return {name: value for name, value in given if value is not None}


def values_of(row: Any, change: Any) -> dict[str, Any]:
    """The row's present values of what is to change."""
    found = {name: getattr(row, name) for name in given_by(change)}
    if isinstance(found.get("parent"), Category):
        found["parent"] = found["parent"].uid
    elif "parent" in found:
        found["parent"] = ""
    return found


def apply_to_facet(facet: Facet, change: FacetChange) -> None:
    for name, value in given_by(change).items():
        setattr(facet, name, value.upper() if name == "hotkey" else value)


def apply_to_category(category: Category, change: CategoryChange) -> None:
    for name, value in given_by(change).items():
        if name == "parent":
            category.parent = _parent(category, value)
        else:
            setattr(category, name, value.upper() if name == "hotkey" else value)


def _parent(category: Category, uid: str) -> Category | None:
    if not uid:
        return None
    found = category.facet.categories.filter(uid=uid, state=Category.State.ACTIVE).first()
    if found is None:
        raise BadInput("That parent is not in this facet any more. Choose another.")
    return found
