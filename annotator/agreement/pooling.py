"""Several rounds taken together: the sum of their tables, each pair and all raters."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotator.agreement.comparing import basis_of, patterns
from annotator.agreement.counting import RoundCounts
from annotator.agreement.entries import (
    Compared,
    Entry,
    Frame,
    coefficients,
    empty_entry,
    joint_reason,
    many_entry,
    pair_entry,
    set_entry,
)
from annotator.agreement.scales import ANSWERED, Choice, Scale, scales_of
from annotator.labeling.models import Round
from annotator.stats.reasons import ONE_RATER, SHARED_BUGS
from annotator.stats.sets import Answers, SetTable
from annotator.stats.tables import Table

POOLED = "pooled"
WEAKEST_FIRST = ("no", "unknown", "declared", "enforced")


@dataclass(frozen=True)
class Part:
    """A facet in one of the rounds."""

    counts: RoundCounts
    scale: Scale

    @property
    def raters(self) -> dict[str, int]:
        return self.counts.raters_of(self.scale)


def entries(rounds: Sequence[Round], *, level: str = ANSWERED) -> list[Entry]:
    counted = [RoundCounts(round_, tuple(scales_of(round_, level=level))) for round_ in rounds]
    listed = [scale for counts in counted for scale in counts.listed]
    keys = dict.fromkeys(scale.key for scale in sorted(listed, key=lambda scale: scale.is_verdict))
    parts = [Part(counts, scale) for counts in counted for scale in counts.asked if scale.key in keys]
    by_facet = [[part for part in parts if part.scale.key == key] for key in keys]
    return [entry for of_facet in by_facet for entry in _of_facet(of_facet, _frame(of_facet, basis=basis_of(level)))]


def _of_facet(parts: list[Part], frame: Frame) -> list[Entry]:
    scale = _merged([part.scale for part in parts])
    raters = sorted({name for part in parts for name in part.raters})
    if len(raters) == 1:
        return [_alone(frame, scale, parts, raters[0])]
    tables = {pair: _pair(parts, scale, pair) for pair in combinations(raters, 2)}
    found = [_compared(frame, scale, *tables[pair]) for pair in tables if _met(parts, pair)]
    if len(raters) > 2 and not joint_reason(scale):
        found.append(_all(frame, scale, raters, parts=parts, tables=[table for table, _ in tables.values()]))
    return found


def _met(parts: list[Part], pair: tuple[str, str]) -> bool:
    """Raters who never were in one round have nothing to compare, and that is no finding."""
    return any(set(pair) <= part.raters.keys() for part in parts)


def _pair(parts: list[Part], scale: Scale, pair: tuple[str, str]) -> tuple[Table | SetTable, Compared]:
    excluded: Counter[str] = Counter()
    tables: list[Any] = []
    is_assisted = False
    for part in parts:
        if not set(pair) <= part.raters.keys():
            continue
        first, second = (part.raters[name] for name in pair)
        count = part.counts.set_table if scale.is_many else part.counts.table
        table = count(part.scale, first, second)
        tables.append(table)
        is_whole = table.n == part.counts.bugs  # nothing to look for
        excluded.update(
            part.counts.nothing_excluded if is_whole else part.counts.excluded_by(part.scale, first, second)
        )
        is_assisted = is_assisted or bool(part.counts.assisted(part.scale) & {first, second})
    together = SetTable.pooled(tables) if scale.is_many else Table.pooled(tables)
    return together, Compared(pair, dict(excluded), is_assisted)


def _compared(frame: Frame, scale: Scale, table: Table | SetTable, compared: Compared) -> Entry:
    if reason := joint_reason(scale):
        return empty_entry(frame, scale, compared, n=table.n, reason=reason)
    if isinstance(table, SetTable):
        return set_entry(frame, scale, compared, table)
    return pair_entry(frame, scale, compared, table)


def _alone(frame: Frame, scale: Scale, parts: list[Part], name: str) -> Entry:
    excluded: Counter[str] = Counter()
    for part in parts:
        excluded.update(part.counts.excluded_by(part.scale, part.raters[name], part.raters[name]))
    n = sum(part.counts.bugs for part in parts) - sum(excluded.values())
    reason = joint_reason(scale) or ONE_RATER
    return empty_entry(frame, scale, Compared((name,), dict(excluded)), n=n, reason=reason)


def _all(frame: Frame, scale: Scale, raters: list[str], *, parts: list[Part], tables: list[Any]) -> Entry:
    """All raters, and the sum of their pairs' tables: pairs share bugs, so that sum has no standard error."""
    votes: Counter[tuple[Answers, ...]] = Counter()
    for part in parts:
        votes.update(patterns(part.counts, part.scale, part.raters.values()))
    entry = many_entry(frame, scale, raters, votes)
    if scale.is_many:
        return entry
    table = Table.pooled(tables)
    found = coefficients(table, scale, categories=len(scale.listed(table.used)))
    names = ("kappa", "kappa_linear", "kappa_quadratic", "ac1", "pabak")
    kappa = found["kappa"]
    return entry | {
        "pairs": len(tables),
        "n_pairs": table.n,
        "observed": kappa.observed,
        "expected": kappa.expected,
        "no_interval": SHARED_BUGS if kappa.value is not None else None,
        **{name: found[name].value for name in names},
    }


def _frame(parts: list[Part], *, basis: str) -> Frame:
    rounds = {part.counts.round.number: part.counts.round for part in parts}
    blindness = min((round_.blindness for round_ in rounds.values()), key=WEAKEST_FIRST.index)
    return Frame(POOLED, None, Round.Kind.MAIN, blindness, basis)


def _merged(scales: list[Scale]) -> Scale:
    """The latest round's facet, and after its categories any that earlier rounds had."""
    latest = scales[-1]
    known = {choice.uid for choice in latest.choices}
    gone: dict[str, Choice] = {}
    for scale in scales:
        for choice in scale.choices:
            if choice.uid not in known:
                gone.setdefault(choice.uid, Choice(choice.uid, choice.name, choice.rank, False))
    return Scale(
        facet_id=latest.facet_id,
        key=latest.key,
        name=latest.name,
        choices=(*latest.choices, *gone.values()),
        uids=latest.uids,
        is_many=latest.is_many,
        decided=latest.decided,
        not_a_bug=latest.not_a_bug,
        shares_codes=any(scale.shares_codes for scale in scales),
    )
