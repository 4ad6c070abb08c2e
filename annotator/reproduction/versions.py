"""A differential over its environments: each value that is compared, the majority as the reference, and who deviates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.reproduction.comparing import Votes, compare
from annotator.reproduction.matrix import Matrix, value_of
from annotator.reproduction.models import Run
from annotator.reproduction.wording import shown

MOST_VALUES = 50
MISSING = object()


@dataclass(frozen=True, kw_only=True)
class Given:
    text: str
    run: Run | None
    deviates: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """One value over all environments."""

    name: str
    given: tuple[Given, ...]  # in the recipe's order
    majority: str
    deviants: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Over:
    names: tuple[str, ...]
    lines: tuple[Line, ...]
    left_out: int = 0


def over_versions(matrix: Matrix) -> Over | None:
    """None where nothing is compared, or not all of it is there."""
    if not matrix.recipe.is_differential or matrix.told.verdict.votes is None:
        return None
    runs = {row.name: _first(matrix, row.name) for row in matrix.rows}
    values = {name: value_of(run) for name, run in runs.items() if run is not None}
    parts = dict(_parts(values, matrix.recipe.metric or "output"))
    lines = [_line(name, part, runs, matrix.recipe.tolerance) for name, part in list(parts.items())[:MOST_VALUES]]
    return Over(names=tuple(runs), lines=tuple(lines), left_out=max(0, len(parts) - MOST_VALUES))


def _first(matrix: Matrix, name: str) -> Run | None:
    counted = [run for run in matrix.told.runs if run.environment == name and run.outcome == Run.Outcome.OBSERVED]
    return next((run for run in counted if run.voided_at is None), None)


def _parts(values: Mapping[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """JSON objects are told key by key; all else as a whole."""
    objects = [value for value in values.values() if isinstance(value, dict)]
    if not objects or len(objects) < len(values):
        yield name, dict(values)
        return
    for key in dict.fromkeys(key for one in objects for key in one):
        yield str(key), {who: one.get(key, MISSING) for who, one in values.items()}


def _line(name: str, part: Mapping[str, Any], runs: Mapping[str, Run | None], tolerance: float) -> Line:
    there = {who: value for who, value in part.items() if value is not MISSING}
    votes = compare(there, tolerance=tolerance) if there else None
    deviants = votes.deviants if votes else ()
    given = [
        Given(text=shown(there[who]) if who in there else "n/a", run=run, deviates=who in deviants)
        for who, run in runs.items()
    ]
    return Line(name=name, given=tuple(given), majority=_majority(votes, len(there)), deviants=tuple(deviants))


def _majority(votes: Votes | None, count: int) -> str:
    if votes is None:
        return "–"
    if votes.is_tie:
        return "no majority"
    return f"{shown(votes.groups[0].value)}, {len(votes.majority)} of {count}"


def names_of(deviants: Sequence[str]) -> str:
    return ", ".join(deviants) or "none"
