"""How a sample is drawn, as a person says it: checked here, stored with the sample, the same again when drawn again."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from annotator.stats.draws import ALL, EQUAL, KINDS, NEWEST, PROPORTIONAL, RANDOM, SMALLEST, STRATIFIED
from annotator.web.errors import BadInput

MOMENTS = {"merged": "merged", "closed": "closed", "opened": "opened"}
STRATA = {"repository": ("repository", "repositories"), "kind": ("kind of item", "kinds of item")}
COUNTED = (NEWEST, RANDOM, PROPORTIONAL, EQUAL)
MOST = 1_000_000


@dataclass(frozen=True)
class Rule:
    """`count` is of all, or of each stratum where the kind is EQUAL. A harvest or repositories narrow the pool."""

    kind: str = ALL
    count: int | None = None
    by: str = "repository"  # what makes the strata
    within: str = NEWEST  # how a stratum is ordered
    moment: str = "merged"  # what newest goes by
    harvest: int | None = None
    repositories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {"kind": KINDS, "by": STRATA, "within": (NEWEST, RANDOM), "moment": MOMENTS}
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise BadInput(f"“{str(getattr(self, name))[:40]}” is none of {', '.join(values)}.")
        if self.kind in COUNTED and not 1 <= (self.count or 0) <= MOST:
            raise BadInput(f"Say how many bugs are wanted, from 1 to {MOST:,}.")

    @property
    def is_stratified(self) -> bool:
        return self.kind in STRATIFIED

    @property
    def goes_by_date(self) -> bool:
        return self.kind == NEWEST or (self.is_stratified and self.within == NEWEST)

    def document(self) -> dict[str, Any]:
        """Nothing in it that makes no difference."""
        told: dict[str, Any] = {"kind": self.kind}
        if self.kind in COUNTED:
            told["count"] = self.count
        if self.is_stratified:
            told |= {"by": self.by, "within": self.within}
        if self.goes_by_date:
            told["moment"] = self.moment
        if self.harvest is not None:
            told["harvest"] = self.harvest
        if self.repositories:
            told["repositories"] = sorted(self.repositories)
        return told

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Rule":
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in document.items() if name in known}
        return cls(**given | {"repositories": tuple(given.get("repositories", ()))})

    @property
    def says(self) -> str:
        """The rule in words, without the pool."""
        one, many = STRATA[self.by]
        order = f"{MOMENTS[self.moment]} last first" if self.within == NEWEST else "at random"
        return {
            ALL: "All of the pool",
            NEWEST: f"The {self.count or 0:,} {MOMENTS[self.moment]} last",
            RANDOM: f"{self.count or 0:,} at random",
            SMALLEST: f"The smallest {one} whole, of each other as many bugs, {order}",
            PROPORTIONAL: f"{self.count or 0:,} in proportion to the {many}, {order}",
            EQUAL: f"{self.count or 0:,} of each {one}, {order}",
        }[self.kind]

    @property
    def narrowed(self) -> str:
        """What narrows the pool, in words; empty where nothing does."""
        told = [f"harvest {self.harvest}"] if self.harvest is not None else []
        return ", ".join([*told, *self.repositories])
