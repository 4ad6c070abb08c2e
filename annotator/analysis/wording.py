"""What was asked of a figure, in words."""

from collections.abc import Mapping

from annotator.analysis.asked import CHOICES, KINDS, REPOSITORY, USES, Asked
from annotator.analysis.labels import FINAL, UNANIMOUS

LABELS = {FINAL: "final labels", UNANIMOUS: "unanimous labels"}


def in_words(asked: Asked, facets: Mapping[str, str]) -> list[str]:
    """`facets` gives their names by key. What is as usual goes without saying, but for whose labels."""
    names = {**facets, REPOSITORY: "repositories"}
    sides = [names.get(side, side) for side in (asked.by, asked.across) if side]
    beside = asked.other or asked.published_as
    chosen = {name: getattr(asked, name) for name in CHOICES}
    usual = {name: next(iter(choices)) for name, choices in CHOICES.items()}
    return [
        KINDS[asked.kind],
        *([" × ".join(sides)] if sides else []),
        *([f"beside {beside}"] if beside else []),
        *([LABELS.get(asked.labels, f"labels of {asked.labels}")] if "labels" in USES[asked.kind] else []),
        *(CHOICES[name][value].lower() for name, value in chosen.items() if value != usual[name]),
    ]
