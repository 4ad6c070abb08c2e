"""The gate: the agreement that a round has to reach, fixed before anybody could know it."""

from dataclasses import dataclass

from annotator.stats.cohen import Kappa
from annotator.stats.intervals import lower_limit_of_all
from annotator.stats.reasons import N_BELOW_FLOOR, SINGLE_CATEGORY

VALUE, LOWER = "value", "lower"
PASSED, FAILED, NOT_COMPUTABLE = "passed", "failed", "not_computable"


@dataclass(frozen=True)
class Gate:
    """Coefficient, the bound it has to reach, what is held against the bound, and the fewest bugs it may rest on."""

    coefficient: str
    bound: float
    method: str = VALUE
    min_n: int = 0


@dataclass(frozen=True)
class Answer:
    """What the gate says; `read` is the number held against the bound."""

    result: str
    reason: str | None = None
    read: float | None = None
    is_binomial: bool = False


def answer(gate: Gate, kappa: Kappa) -> Answer:
    """Passed, failed, or not computable and why. `kappa` is the gate's own coefficient."""
    if kappa.value is None:
        return Answer(NOT_COMPUTABLE, kappa.reason)
    if kappa.n < gate.min_n:
        return Answer(NOT_COMPUTABLE, N_BELOW_FLOOR)
    if gate.method == VALUE:
        return _held(kappa.value, gate)
    if kappa.ci is not None:
        return _held(kappa.ci[0], gate)
    return _without_variance(gate, kappa)


def _without_variance(gate: Gate, kappa: Kappa) -> Answer:
    """Nobody differed: the exact binomial limit stands in. Somebody differed, yet no variance: never a pass."""
    if kappa.observed == 1:
        return _held(lower_limit_of_all(kappa.n), gate, is_binomial=True)
    if kappa.value is not None and kappa.value < gate.bound:
        return Answer(FAILED, read=kappa.value)
    return Answer(NOT_COMPUTABLE, SINGLE_CATEGORY)


def _held(read: float, gate: Gate, *, is_binomial: bool = False) -> Answer:
    result = PASSED if read >= gate.bound else FAILED
    return Answer(result, read=read, is_binomial=is_binomial)
