"""What votes decide by themselves: pure."""

from collections import Counter
from collections.abc import Iterable

from annotator.screening.models import Outcome, Screening, Vote

Rule, Source = Screening.Rule, Outcome.Source
INCLUDE, EXCLUDE = Vote.Decision.INCLUDE.value, Vote.Decision.EXCLUDE.value


def decided(rule: str, *, includes: int, excludes: int, wanted: int) -> tuple[str, str] | None:
    """Decision and where it comes from, or None where it has to be discussed. `wanted` votes make a full reading."""
    if wanted == 0:
        return None
    for decision, votes in ((INCLUDE, includes), (EXCLUDE, excludes)):
        if votes == wanted:
            return decision, (Source.SINGLE if wanted == 1 else Source.UNANIMOUS).value
    if rule == Rule.MAJORITY and 2 * includes > wanted:
        return INCLUDE, Source.MAJORITY.value
    if rule in (Rule.MAJORITY, Rule.DISCUSSED) and 2 * excludes > wanted:
        return EXCLUDE, Source.MAJORITY.value
    return None


def ground(cited: Iterable[int], order: list[int]) -> int | None:
    """The criterion that most of those who exclude cite; of several the first in the order of the criteria."""
    counted = Counter(cited)
    most = max(counted.values(), default=0)
    return next((criterion for criterion in order if most and counted[criterion] == most), None)
