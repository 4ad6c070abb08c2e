"""Whose result deviates: environments vote, and the majority is the reference. Pure."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.reproduction.oracles import FIGURE

LONGEST_SHOWN = 500


@dataclass(frozen=True, kw_only=True)
class Group:
    """Environments that gave the same."""

    value: Any
    environments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Votes:
    groups: tuple[Group, ...]  # the largest first
    majority: tuple[str, ...]  # more than half of the environments; none in a tie
    deviants: tuple[str, ...]  # the others; none in a tie: nobody knows which
    is_tie: bool

    @property
    def said(self) -> str:
        names = [", ".join(group.environments) for group in self.groups]
        if self.is_tie:
            return f"There is no majority: {' against '.join(names)}."
        if not self.deviants:
            return f"All {len(self.majority)} environments give the same."
        total = len(self.majority) + len(self.deviants)
        return f"{len(self.majority)} of {total} agree; {', '.join(self.deviants)} deviates."

    def document(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "groups": [
                {"value": shown(group.value), "environments": list(group.environments), "n": len(group.environments)}
                for group in self.groups
            ],
            "majority": list(self.majority),
            "deviants": list(self.deviants),
            "tie": self.is_tie,
        }


def compare(values: Mapping[str, Any], *, tolerance: float) -> Votes:
    """Each environment's result by name, in the recipe's order. Near is not transitive, so the environment with most
    others near it is the middle of its group; what is near it belongs to the group, and the rest is grouped the same way.
    """
    left, groups = list(values), []
    while left:
        near = {
            name: [other for other in left if same(values[name], values[other], tolerance=tolerance)] for name in left
        }
        middle = min(left, key=lambda name: (-len(near[name]), _order(values[name])))
        groups.append(Group(value=values[middle], environments=tuple(near[middle])))
        left = [name for name in left if name not in near[middle]]
    groups.sort(key=lambda group: -len(group.environments))
    first = groups[0].environments
    if 2 * len(first) <= len(values):
        return Votes(groups=tuple(groups), majority=(), deviants=(), is_tie=True)
    deviants = tuple(name for name in values if name not in first)
    return Votes(groups=tuple(groups), majority=first, deviants=deviants, is_tie=False)


def _order(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def same(one: Any, other: Any, *, tolerance: float) -> bool:
    """Equal, numbers within the tolerance: |a − b| ≤ tolerance × max(1, |a|, |b|). NaN is the same as NaN."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return near(one, other, tolerance=tolerance)
    if isinstance(one, str) and isinstance(other, str):
        return _same_text(one, other, tolerance=tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and _all_same(one, other, tolerance)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and _all_same([*one.values()], [other[key] for key in one], tolerance)
    return one is None and other is None


def _all_same(ones: Sequence[Any], others: Sequence[Any], tolerance: float) -> bool:
    return all(same(one, other, tolerance=tolerance) for one, other in zip(ones, others, strict=True))


def near(one: float, other: float, *, tolerance: float) -> bool:
    try:
        one, other = float(one), float(other)
    except OverflowError:
        return one == other
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if one == other:
        return True
    if math.isinf(one) or math.isinf(other):
        return False
    return abs(one - other) <= tolerance * max(1.0, abs(one), abs(other))


def _same_text(one: str, other: str, *, tolerance: float) -> bool:
    if one == other:
        return True
    if not tolerance or not _same_but_for_figures(one, other):
        return False
    figures = zip(FIGURE.findall(one), FIGURE.findall(other), strict=True)
    return all(near(float(a), float(b), tolerance=tolerance) for a, b in figures)


def _same_but_for_figures(one: str, other: str) -> bool:
    return _blanked(one) == _blanked(other)


def _blanked(text: str) -> list[str]:
    return re.sub(r"\s+", " ", FIGURE.sub("#", text)).split("#")


def shown(value: Any) -> Any:
    """Bounded: what is long is told by its beginning."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_SHOWN else f"{value[: LONGEST_SHOWN - 1]}…"
    told = json.dumps(value, ensure_ascii=False)
    return value if len(told) <= LONGEST_SHOWN else f"{told[: LONGEST_SHOWN - 1]}…"
