"""From a round's counts to its entries."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from annotator.agreement.counting import RoundCounts
from annotator.agreement.entries import (
    Compared,
    Entry,
    Frame,
    empty_entry,
    joint_reason,
    many_entry,
    pair_entry,
    set_entry,
)
from annotator.agreement.scales import ANSWERED, TOP, Scale, scales_of, version_of
from annotator.labeling.models import Round
from annotator.stats.gates import Gate
from annotator.stats.reasons import ONE_RATER
from annotator.stats.sets import Answers, SetTable

AS_ANSWERED, GROUPED_AFTER = "as_answered", "grouped_after"
BASES = {ANSWERED: AS_ANSWERED, TOP: GROUPED_AFTER}


def recompute(round_: Round, *, level: str = ANSWERED) -> list[Entry]:
    """From the answers alone. As answered it is equal to what was stored when the round closed."""
    if round_.is_open:
        return []
    counts, frame = RoundCounts(round_, tuple(scales_of(round_, level=level))), frame_of(round_, level=level)
    return [entry for scale in counts.listed for entry in _of_facet(counts, frame, scale)]


def _of_facet(counts: RoundCounts, frame: Frame, scale: Scale) -> Iterator[Entry]:
    raters = counts.raters_of(scale)
    if len(raters) == 1:
        yield _alone(counts, frame, scale, raters)
        return
    for names in combinations(raters, 2):
        yield compare(counts, frame, scale, names)
    if len(raters) > 2 and not joint_reason(scale):
        yield many_entry(frame, scale, list(raters), patterns(counts, scale, raters.values()))


def _alone(counts: RoundCounts, frame: Frame, scale: Scale, raters: Mapping[str, int]) -> Entry:
    ((name, pk),) = raters.items()
    excluded = counts.excluded_by(scale, pk, pk)
    n = counts.bugs - sum(excluded.values())
    reason = joint_reason(scale) or ONE_RATER
    return empty_entry(frame, scale, Compared((name,), excluded), n=n, reason=reason)


def compare(counts: RoundCounts, frame: Frame, scale: Scale, names: tuple[str, ...]) -> Entry:
    first, second = (counts.raters[name] for name in names)
    reason = joint_reason(scale)
    table = counts.set_table(scale, first, second) if scale.is_many else counts.table(scale, first, second)
    excluded = counts.excluded_by(scale, first, second) if table.n < counts.bugs else counts.nothing_excluded
    compared = Compared(names, excluded, is_assisted=bool(counts.assisted(scale) & {first, second}))
    if reason:
        return empty_entry(frame, scale, compared, n=table.n, reason=reason)
    if isinstance(table, SetTable):
        return set_entry(frame, scale, compared, table)
    return pair_entry(frame, scale, compared, table)


def patterns(counts: RoundCounts, scale: Scale, raters: Iterable[int]) -> Counter[tuple[Answers, ...]]:
    """How many bugs got which votes, whoever gave them."""
    wanted, found = frozenset(raters), Counter[tuple[Answers, ...]]()
    for votes in counts.votes(scale):
        given = [answers for rater, answers in votes.items() if rater in wanted]
        if given:
            found[tuple(sorted(given, key=sorted))] += 1
    return found


def basis_of(level: str) -> str:
    return f"mapped_to {level}" if version_of(level) is not None else BASES[level]


def frame_of(round_: Round, *, level: str = ANSWERED) -> Frame:
    """Its gate was fixed for the answers as they were given, and is asked about nothing else."""
    return Frame(
        round=round_.name,
        number=round_.number,
        kind=round_.kind,
        blindness=round_.blindness,
        basis=basis_of(level),
        gate=gate_rule(round_) if level == ANSWERED else None,
    )


def gate_rule(round_: Round) -> Gate | None:
    if not round_.gate_coefficient:
        return None
    return Gate(round_.gate_coefficient, round_.gate_bound, round_.gate_method, round_.gate_min_n)
