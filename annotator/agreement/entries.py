"""The entries of the agreement list, built from tables. Keys and their order are a fixed interface."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.agreement.scales import Choice, Scale
from annotator.labeling.models import Round
from annotator.stats.categories import per_category
from annotator.stats.chance import ac1, pabak
from annotator.stats.cohen import Kappa, cohen, weighted
from annotator.stats.gates import Answer, Gate, answer
from annotator.stats.many import Coefficient, Patterns, alpha, fleiss
from annotator.stats.margins import dominant, warnings
from annotator.stats.reasons import JOINT, N_BELOW_FLOOR, NO_OVERLAP, NO_VARIANCE, RULE, SET_VALUED
from annotator.stats.sets import Answers, SetTable, alpha_over, jaccard, masi
from annotator.stats.tables import Table

Entry = dict[str, Any]
SHARED_CODES = "shared_codes"  # the raters saw each other's codes while they answered
Coefficients = dict[str, Kappa]


@dataclass(frozen=True)
class Frame:
    """What every entry of a round says about it."""

    round: str
    number: int | None
    kind: str
    blindness: str
    basis: str
    gate: Gate | None = None


@dataclass(frozen=True)
class Compared:
    """Two raters on one facet: who, what was left out and why."""

    raters: tuple[str, ...]
    excluded_by: Mapping[str, int]
    is_assisted: bool = False


def pair_entry(frame: Frame, scale: Scale, compared: Compared, table: Table) -> Entry:
    """A facet with one answer a bug, compared between two raters."""
    choices = scale.listed(table.used)
    found = coefficients(table, scale, categories=len(choices))
    kappa = found["kappa"]
    gate = gate_answer(frame.gate, scale, found)
    top = dominant(table)
    names = {choice.uid: choice.name for choice in choices}
    return {
        **_head(frame, scale, compared, n=table.n),
        "observed": kappa.observed,
        "expected": kappa.expected,
        "kappa": kappa.value,
        "se": kappa.se,
        "ci": list(kappa.ci) if kappa.ci else None,
        "kappa_linear": found["kappa_linear"].value,
        "kappa_quadratic": found["kappa_quadratic"].value,
        "ac1": found["ac1"].value,
        "pabak": found["pabak"].value,
        "reason": kappa.reason or (gate["reason"] if gate["reason"] == N_BELOW_FLOOR else None),
        "warnings": [*warnings(table), *_shared(scale)],
        "gate": gate,
        "categories": category_rows(table, choices),
        "table": _square(table, choices),
        "n_ordered": found["kappa_linear"].n if scale.order else None,
        "no_interval": NO_VARIANCE if kappa.value is not None and kappa.ci is None else None,
        "dominant": {"category": names[top.category], "share": top.share} if top else None,
        **_tail(frame, scale, compared),
    }


def coefficients(table: Table, scale: Scale, *, categories: int) -> Coefficients:
    nothing = Kappa(n=table.n, value=None)
    order = scale.order
    return {
        "kappa": cohen(table),
        "kappa_linear": weighted(table, order=order, power=1) if order else nothing,
        "kappa_quadratic": weighted(table, order=order, power=2) if order else nothing,
        "ac1": ac1(table, categories=categories),
        "pabak": pabak(table, categories=categories),
        "alpha": _alpha_of_pair(table),
    }


def _alpha_of_pair(table: Table) -> Kappa:
    found = alpha(dict(table.cells.items()))
    return Kappa(n=table.n, value=found.value, reason=found.reason, se=found.se, observed=_observed(table))


def _observed(table: Table) -> float | None:
    return table.agreements / table.n if table.n else None


def set_entry(frame: Frame, scale: Scale, compared: Compared, table: SetTable) -> Entry:
    """A facet with several answers a bug: no kappa of its own, alpha and exact matches instead."""
    choices = scale.listed(table.used)
    by_jaccard, by_masi = table.alpha(jaccard), table.alpha(masi)
    found = {
        "alpha": Kappa(n=table.n, value=by_masi.value, reason=by_masi.reason, se=by_masi.se, observed=table.exact_match)
    }
    return {
        **_head(frame, scale, compared, n=table.n),
        **_nothing(SET_VALUED if table.n else NO_OVERLAP),
        "gate": gate_answer(frame.gate, scale, found, reason=SET_VALUED),
        "categories": category_rows(table, choices),
        "warnings": _shared(scale),
        "alpha_jaccard": by_jaccard.value,
        "alpha_masi": by_masi.value,
        "exact_match": table.exact_match,
        **_tail(frame, scale, compared),
    }


def empty_entry(frame: Frame, scale: Scale, compared: Compared, *, n: int, reason: str) -> Entry:
    """Where there is no agreement to speak of: one rater, or a facet that nobody answered alone."""
    return {
        **_head(frame, scale, compared, n=n),
        **_nothing(reason),
        "gate": gate_answer(frame.gate, scale, {}, reason=reason),
        **_tail(frame, scale, compared),
    }


def many_entry(frame: Frame, scale: Scale, raters: Sequence[str], patterns: Mapping[tuple[Answers, ...], int]) -> Entry:
    """Three raters or more together; every pair of them has an entry of its own."""
    n = sum(patterns.values())
    entry = {"round": frame.round, "facet": scale.key, "raters": list(raters), "basis": frame.basis, "n": n}
    if scale.is_many:
        sets = {
            "alpha_jaccard": alpha_over(patterns, distance=jaccard),
            "alpha_masi": alpha_over(patterns, distance=masi),
        }
        entry |= {"fleiss": None, "alpha": None, "reason": SET_VALUED}
        entry |= {name: found.value for name, found in sets.items()}
        together = sets["alpha_masi"]
    else:
        single: Patterns = {tuple(vote for (vote,) in votes): count for votes, count in patterns.items()}
        all_votes, together = fleiss(single, raters=len(raters)), alpha(single)
        reason = together.reason or all_votes.reason
        entry |= {"fleiss": all_votes.value, "alpha": together.value, "reason": reason}
    rule = frame.gate if frame.gate and frame.gate.coefficient == "alpha" else None
    held = {"alpha": _together(together, n=n, patterns=patterns)}
    gate = gate_answer(rule, scale, held, reason=NO_OVERLAP)
    return entry | {"gate": gate} | _where(frame, scale)


def _together(found: Coefficient, *, n: int, patterns: Mapping[tuple[Answers, ...], int]) -> Kappa:
    is_perfect = all(len(set(votes)) == 1 for votes in patterns)
    return Kappa(n=n, value=found.value, reason=found.reason, se=found.se, observed=1.0 if is_perfect else None)


def joint_reason(scale: Scale) -> str | None:
    """Why a facet has no agreement at all: decided together, or by rule."""
    return {"joint": JOINT, "rule": RULE}.get(scale.decided)


def gate_answer(gate: Gate | None, scale: Scale, found: Mapping[str, Kappa], *, reason: str | None = None) -> Entry:
    """The gate's fields; all null where the round has none, or where the facet is the verdict or not answered blind."""
    if gate is None or scale.is_verdict or joint_reason(scale):
        keys = ("coefficient", "bound", "method", "result", "reason", "min_n", "read")
        return dict.fromkeys(keys) | {"is_binomial": False}
    held = found.get(gate.coefficient)
    said = answer(gate, held) if held and (held.value is not None or held.reason) else Answer("not_computable", reason)
    return {
        "coefficient": gate.coefficient,
        "bound": gate.bound,
        "method": gate.method,
        "result": said.result,
        "reason": said.reason,
        "min_n": gate.min_n,
        "read": said.read,
        "is_binomial": said.is_binomial,
    }


def category_rows(table: Table | SetTable, choices: Sequence[Choice]) -> list[Entry]:
    """`n` bugs that both answered, as everywhere; `votes` of each rater for the category and `both` beside it."""
    names = {choice.uid: choice.name for choice in choices}
    return [
        {
            "category": names[row.category],
            "kappa": row.kappa.value,
            "positive_agreement": row.positive_agreement,
            "n": table.n,
            "votes": [row.first, row.second],
            "both": row.both,
            "ci": list(row.kappa.ci) if row.kappa.ci else None,
            "reason": row.kappa.reason,
        }
        for row in per_category(table, [choice.uid for choice in choices])
    ]


def _head(frame: Frame, scale: Scale, compared: Compared, *, n: int) -> Entry:
    return {
        "round": frame.round,
        "facet": scale.key,
        "raters": list(compared.raters),
        "blindness": Round.Blindness.NO.value if scale.shares_codes else frame.blindness,
        "basis": frame.basis,
        "n": n,
        "excluded": sum(compared.excluded_by.values()),
        "excluded_by": dict(compared.excluded_by),
    }


def _nothing(reason: str) -> Entry:
    keys = ("observed", "expected", "kappa", "se", "ci", "kappa_linear", "kappa_quadratic", "ac1", "pabak")
    return dict.fromkeys(keys) | {"reason": reason, "warnings": [], "categories": [], "table": None}


def _shared(scale: Scale) -> list[str]:
    return [SHARED_CODES] if scale.shares_codes else []


def _tail(frame: Frame, scale: Scale, compared: Compared) -> Entry:
    return {"assisted": compared.is_assisted} | _where(frame, scale)


def _where(frame: Frame, scale: Scale) -> Entry:
    return {"number": frame.number, "kind": frame.kind, "facet_name": scale.name}


def _square(table: Table, choices: Sequence[Choice]) -> Entry:
    uids = [choice.uid for choice in choices]
    return {"categories": [choice.name for choice in choices], "counts": table.square(uids), "uids": uids}
