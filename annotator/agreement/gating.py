"""What the gate says about a whole round, in words."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.accounts.models import User
from annotator.agreement.entries import Entry
from annotator.agreement.numbers import apart, short
from annotator.labeling.models import Round
from annotator.stats.gates import FAILED, LOWER, NOT_COMPUTABLE, PASSED
from annotator.stats.reasons import N_BELOW_FLOOR, SENTENCES, SET_VALUED

NONE, PENDING = "none", "pending"
SYMBOLS = {
    "kappa": "κ",
    "kappa_linear": "κ with linear weights",
    "kappa_quadratic": "κ with quadratic weights",
    "ac1": "AC1",
    "pabak": "PABAK",
    "alpha": "α",
}


@dataclass(frozen=True)
class Holding:
    """The gate held against one facet of one group of raters."""

    facet: str
    facet_name: str
    raters: tuple[str, ...]
    result: str
    reason: str | None
    read: float | None
    sentence: str


@dataclass(frozen=True)
class RoundGate:
    """passed, failed, not_computable; none where the round has no gate, pending while it is open."""

    round: Round
    result: str
    rule: str
    holdings: tuple[Holding, ...] = ()

    @property
    def short_of(self) -> tuple[Holding, ...]:
        return tuple(holding for holding in self.holdings if holding.result != PASSED)

    @property
    def lowest(self) -> Holding | None:
        read = [holding for holding in self.holdings if holding.read is not None]
        return min(read, key=lambda holding: holding.read or 0.0, default=None)

    @property
    def is_continued(self) -> bool:
        return self.round.gate_continued_at is not None

    @property
    def needs_reason(self) -> bool:
        return self.result in (FAILED, NOT_COMPUTABLE) and not self.is_continued

    @property
    def continued_by(self) -> User | None:
        return self.round.gate_continued_by

    @property
    def continued_at(self) -> dt.datetime | None:
        return self.round.gate_continued_at


def of_round(round_: Round, entries: Sequence[Entry]) -> RoundGate:
    if not round_.gate_coefficient:
        return RoundGate(round_, NONE, "This round has no gate.")
    if round_.is_open:
        return RoundGate(round_, PENDING, rule_of(round_))
    holdings = tuple(_holding(entry) for entry in _gated(entries, round_.gate_coefficient))
    results = {holding.result for holding in holdings}
    result = FAILED if FAILED in results else PASSED if results == {PASSED} else NOT_COMPUTABLE
    return RoundGate(round_, result, rule_of(round_), holdings)


def _gated(entries: Sequence[Entry], coefficient: str) -> list[Entry]:
    """Every pair on every facet; alpha speaks for all raters at once where there are three or more.

    A facet with many answers has no kappa by its nature: beside others that have one it holds nothing up.
    """
    asked = [entry for entry in entries if entry["gate"]["result"] is not None]
    gated = [entry for entry in asked if entry["gate"]["reason"] != SET_VALUED] or asked
    together = {entry["facet"] for entry in gated if len(entry["raters"]) > 2}
    if coefficient == "alpha":
        return [entry for entry in gated if len(entry["raters"]) > 2 or entry["facet"] not in together]
    return [entry for entry in gated if len(entry["raters"]) <= 2]


def rule_of(round_: Round) -> str:
    what = "lower bound of " if round_.gate_method == LOWER else ""
    symbol = SYMBOLS.get(round_.gate_coefficient, round_.gate_coefficient)
    floor = f" on at least {round_.gate_min_n} bugs" if round_.gate_min_n else ""
    return f"{what}{symbol} at least {short(round_.gate_bound)}{floor}, each facet and pair"


def _holding(entry: Entry) -> Holding:
    gate = entry["gate"]
    return Holding(
        facet=entry["facet"],
        facet_name=entry["facet_name"],
        raters=tuple(entry["raters"]),
        result=gate["result"],
        reason=gate["reason"],
        read=gate["read"],
        sentence=sentence(entry),
    )


def sentence(entry: Entry) -> str:
    """lower bound .78 < .80"""
    gate = entry["gate"]
    if gate["read"] is None:
        return not_computable(entry, gate["reason"])
    symbol = SYMBOLS.get(gate["coefficient"], gate["coefficient"])
    what = "exact lower limit of observed agreement" if gate["is_binomial"] else f"lower bound of {symbol}"
    if gate["method"] != LOWER:
        what = symbol
    sign = "≥" if gate["result"] == PASSED else "<"
    read, bound = apart(gate["read"], gate["bound"])
    return f"{what} {read} {sign} {bound}"


def not_computable(entry: Entry, reason: str | None) -> str:
    """The reason's sentence, with the numbers where it has some."""
    if reason == N_BELOW_FLOOR:
        return f"{entry['n']} bugs, fewer than the {entry['gate']['min_n']} that the gate asks for."
    if reason == "no_overlap" and len(entry["raters"]) > 2:
        return "Not every rater answered each bug, so there is no Fleiss kappa; alpha takes missing answers."
    return SENTENCES.get(reason or "", "")
