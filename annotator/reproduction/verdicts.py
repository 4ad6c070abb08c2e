"""What the runs of a series say together. Pure: from what each try gave to one word and a sentence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotator.reproduction.comparing import Votes, compare, same
from annotator.reproduction.oracles import BUG, NO_BUG, OBSERVED
from annotator.reproduction.recipes import Recipe
from annotator.stats.intervals import Interval
from annotator.stats.proportions import wilson

REPRODUCED, NOT_REPRODUCED, FLAKY = "reproduced", "not_reproduced", "flaky"
FIXED_ALSO_FAILS, INFRASTRUCTURE, WAITING = "fixed_also_fails", "infrastructure", "waiting"
COUNTED = (BUG, NO_BUG, OBSERVED)
SAID = {
    REPRODUCED: "Reproduced",
    NOT_REPRODUCED: "Not reproduced",
    FLAKY: "Flaky",
    FIXED_ALSO_FAILS: "The fixed version fails too",
    INFRASTRUCTURE: "Could not be tried",
    WAITING: "Not through yet",
}


@dataclass(frozen=True, kw_only=True)
class Try:
    """What one run gave; no outcome: it is not through. A void or cancelled one is left out by the caller."""

    outcome: str
    said: str = ""
    observed: Any = None  # of a differential


@dataclass(frozen=True, kw_only=True)
class Sum:
    """One environment's runs together."""

    name: str
    expects: str
    outcome: str  # bug, no_bug, observed, flaky; what kept it from being tried; or waiting
    counted: int
    bugs: int
    of: int  # runs in all, not counted ones too
    interval: Interval | None = None  # of bugs among counted ones, where it is flaky

    @property
    def rate(self) -> float | None:
        return self.bugs / self.counted if self.counted else None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    verdict: str
    said: str
    environments: tuple[Sum, ...] = ()
    votes: Votes | None = None

    @property
    def label(self) -> str:
        return SAID[self.verdict]


def judge(recipe: Recipe, tries: Mapping[str, Sequence[Try]]) -> Verdict:
    """The verdict over all environments of the recipe; `tries` by environment."""
    if recipe.is_differential:
        return _differential(recipe, tries)
    return judge_contrast({one.name: one.expect for one in recipe.environments}, tries)


def judge_contrast(expected: Mapping[str, str], tries: Mapping[str, Sequence[Try]]) -> Verdict:
    """By what is expected of each environment."""
    sums = tuple(_sum(name, expects, tries.get(name, ())) for name, expects in expected.items())
    verdict, said = _word(sums, tries)
    return Verdict(verdict=verdict, said=said, environments=sums)


def _word(sums: Sequence[Sum], tries: Mapping[str, Sequence[Try]]) -> tuple[str, str]:
    if unfinished := _unfinished(sums):
        return unfinished
    if untried := [one for one in sums if not one.counted]:
        return INFRASTRUCTURE, _why_untried(untried[0], tries)
    if unsteady := [one for one in sums if one.outcome == FLAKY]:
        return FLAKY, " ".join(_rate(one) for one in unsteady)
    buggy = [one for one in sums if one.expects == BUG]
    fixed = [one for one in sums if one.expects == NO_BUG]
    if silent := [one.name for one in buggy if one.outcome != BUG]:
        return NOT_REPRODUCED, f"The bug did not show in {_listed(silent)}."
    if failing := [one.name for one in fixed if one.outcome == BUG]:
        return FIXED_ALSO_FAILS, f"The bug shows in {_listed(failing)} as well."
    shown = f"The bug shows in {_of(buggy)} buggy runs"
    return (
        REPRODUCED,
        f"{shown} and in none of {sum(one.counted for one in fixed)} fixed ones." if fixed else f"{shown}.",
    )


def _unfinished(sums: Sequence[Sum]) -> tuple[str, str] | None:
    waiting = [one.name for one in sums if one.outcome == WAITING]
    return (WAITING, f"Runs in {_listed(waiting)} are not through.") if waiting else None


def _sum(name: str, expects: str, tries: Sequence[Try]) -> Sum:
    outcomes = [one.outcome for one in tries]
    counted = [outcome for outcome in outcomes if outcome in COUNTED]
    bugs = counted.count(BUG)
    found = Sum(name=name, expects=expects, outcome=WAITING, counted=len(counted), bugs=bugs, of=len(tries))
    if any(not outcome for outcome in outcomes):
        return found
    if not counted:
        return replace(found, outcome=_most_frequent(outcomes))
    if 0 < bugs < len(counted):
        return replace(found, outcome=FLAKY, interval=wilson(bugs, len(counted)))
    return replace(found, outcome=counted[0])


def _most_frequent(outcomes: Sequence[str]) -> str:
    """The first among equals; a series without any run of an environment was cancelled or void."""
    return Counter(outcomes).most_common(1)[0][0] if outcomes else "cancelled"


def _why_untried(one: Sum, tries: Mapping[str, Sequence[Try]]) -> str:
    said = next((each.said for each in tries.get(one.name, ()) if each.outcome == one.outcome and each.said), "")
    return f"{one.name}: {said or 'no run of it counts.'}"


def _rate(one: Sum) -> str:
    low, high = one.interval or (0.0, 1.0)
    return (
        f"In {one.name} the bug shows in {one.bugs} of {one.counted} runs "
        f"({100 * one.bugs / one.counted:.0f} %; 95 % interval {100 * low:.0f} to {100 * high:.0f} %)."
    )


def _of(sums: Sequence[Sum]) -> str:
    return f"{sum(one.bugs for one in sums)} of {sum(one.counted for one in sums)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


# --- differential


def _differential(recipe: Recipe, tries: Mapping[str, Sequence[Try]]) -> Verdict:
    sums = tuple(_sum(one.name, "", tries.get(one.name, ())) for one in recipe.environments)
    if unfinished := _unfinished(sums):
        return Verdict(verdict=unfinished[0], said=unfinished[1], environments=sums)
    if untried := [one for one in sums if not one.counted]:
        return Verdict(verdict=INFRASTRUCTURE, said=_why_untried(untried[0], tries), environments=sums)
    values = {
        one.name: [each.observed for each in tries[one.name] if each.outcome == OBSERVED] for one in recipe.environments
    }
    sums = tuple(_steady(one, values[one.name], recipe.tolerance) for one in sums)
    if unsteady := [one.name for one in sums if one.outcome == FLAKY]:
        said = f"What {_listed(unsteady)} gives differs from run to run, so it cannot be compared."
        return Verdict(verdict=FLAKY, said=said, environments=sums)
    votes = compare({name: found[0] for name, found in values.items()}, tolerance=recipe.tolerance)
    return Verdict(verdict=_differs(votes), said=votes.said, environments=sums, votes=votes)


def _steady(one: Sum, values: Sequence[Any], tolerance: float) -> Sum:
    if all(same(values[0], value, tolerance=tolerance) for value in values[1:]):
        return one
    return replace(one, outcome=FLAKY)


def _differs(votes: Votes) -> str:
    return REPRODUCED if votes.deviants or votes.is_tie else NOT_REPRODUCED
