"""Draws that come out the same again: on any machine, from any order of the pool.

Chance comes from no generator. A member's *lot* is SHA-256 of the seed, a line feed and its identity; members are
ordered by it. Whoever has the list of identities and the seed can check a draw with a tool of their own.
The order never depends on how many are wanted: a larger quota only goes on in the same list.
"""

import datetime as dt
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import NormalDist

ALL, NEWEST, RANDOM = "all", "newest", "random"
SMALLEST, PROPORTIONAL, EQUAL = "smallest", "proportional", "equal"
KINDS = (ALL, NEWEST, RANDOM, SMALLEST, PROPORTIONAL, EQUAL)
STRATIFIED = (SMALLEST, PROPORTIONAL, EQUAL)


@dataclass(frozen=True, slots=True)
class Member:
    """One of a pool. Identities are unique in it."""

    identity: str
    stratum: str = ""
    moment: dt.datetime | None = None  # what "newest" goes by


@dataclass(frozen=True)
class Stratum:
    """A part of the pool. No quota: as many as the smallest part yields, or all where it is the only one."""

    label: str
    size: int
    quota: int | None


@dataclass(frozen=True)
class Draw:
    """The whole pool in the order in which it is read, and how many of each stratum are wanted."""

    strata: tuple[Stratum, ...]
    order: tuple[Member, ...]

    def wanted(self) -> dict[str, int]:
        """Members of each stratum to begin with."""
        smallest = min((part.size for part in self.strata), default=0)
        return {part.label: smallest if part.quota is None else part.quota for part in self.strata}

    def chosen(self) -> list[Member]:
        """The first of each stratum, as the list has them; the rest is the reserve."""
        left, found = self.wanted(), []
        for member in self.order:
            if left[member.stratum]:
                left[member.stratum] -= 1
                found.append(member)
        return found


def lot(seed: int, identity: str) -> str:
    return hashlib.sha256(f"{seed}\n{identity}".encode()).hexdigest()


def canonical(pool: Iterable[Member]) -> list[Member]:
    """By identity, compared by code points: no database's idea of an alphabet comes in."""
    return sorted(pool, key=lambda member: member.identity)


def newest_first(pool: Iterable[Member]) -> list[Member]:
    """By moment, ties by identity; those without one come last."""
    members = canonical(pool)
    dated = [(member.moment, member) for member in members if member.moment is not None]
    dated.sort(key=itemgetter(0), reverse=True)  # stable: ties stay by identity
    return [member for _, member in dated] + [member for member in members if member.moment is None]


def at_random(pool: Iterable[Member], seed: int) -> list[Member]:
    return sorted(pool, key=lambda member: (lot(seed, member.identity), member.identity))


def draw(pool: Sequence[Member], *, kind: str, count: int | None = None, within: str = RANDOM, seed: int = 0) -> Draw:
    """The pool in order, by one of KINDS.

    `count` is how many are wanted: in all, or of each stratum where the kind is EQUAL; ALL and SMALLEST take none.
    Strata are ordered `within` themselves: NEWEST or RANDOM. SMALLEST reads the smallest stratum whole.
    """
    if kind not in STRATIFIED:
        return Draw((Stratum("", len(pool), count),), tuple(_ordered([_alone(one) for one in pool], kind, seed)))
    parts: dict[str, list[Member]] = {}
    for member in pool:
        parts.setdefault(member.stratum, []).append(member)
    sizes = {label: len(parts[label]) for label in sorted(parts)}
    quotas = _quotas(kind, sizes, count)
    ordered = {label: _ordered(parts[label], within, seed) for label in sizes}
    strata = tuple(Stratum(label, size, quotas[label]) for label, size in sizes.items())
    return Draw(strata, tuple(_interleaved(ordered, by_share=kind == PROPORTIONAL)))


def _alone(member: Member) -> Member:
    return Member(member.identity, "", member.moment)


def _ordered(pool: Iterable[Member], kind: str, seed: int) -> list[Member]:
    if kind == RANDOM:
        return at_random(pool, seed)
    return newest_first(pool) if kind == NEWEST else canonical(pool)


def _quotas(kind: str, sizes: Mapping[str, int], count: int | None) -> Mapping[str, int | None]:
    if kind == PROPORTIONAL:
        return largest_remainder(sizes, count or 0)
    return {label: min(size, count or 0) if kind == EQUAL else None for label, size in sizes.items()}


def _interleaved(parts: Mapping[str, Sequence[Member]], *, by_share: bool) -> list[Member]:
    """One of each stratum in turn; by share, larger ones come more often, so that any beginning mirrors the pool."""
    places = [
        ((2 * rank - 1) / (2 * len(members)) if by_share else rank, label, member)
        for label, members in parts.items()
        for rank, member in enumerate(members, 1)
    ]
    return [member for _, _, member in sorted(places, key=lambda place: place[:2])]


def largest_remainder(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Shares of `count` in proportion to the sizes (Hamilton): whole parts, then one each for the largest remainders.

    Equal remainders: the larger stratum first, then by label. No share is larger than its stratum.
    """
    total = sum(sizes.values())
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total}")
    if not total:
        return dict.fromkeys(sizes, 0)
    shares = {label: count * size // total for label, size in sizes.items()}
    order = sorted(sizes, key=lambda label: (-(count * sizes[label] % total), -sizes[label], label))
    for label in order[: count - sum(shares.values())]:
        shares[label] += 1
    return shares


def sample_size(*, confidence: float, margin: float, population: int | None = None, proportion: float = 0.5) -> int:
    """How many to draw for a proportion within `margin` at this confidence, rounded up.

    Cochran (1977): n₀ = z² p (1 − p) / e², and with a finite population n = n₀ / (1 + (n₀ − 1) / N).
    """
    if not (0 < confidence < 1 and 0 < margin < 1 and 0 < proportion < 1):
        raise ValueError("confidence, margin and proportion lie between 0 and 1")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    wanted = z * z * proportion * (1 - proportion) / (margin * margin)
    if population is None:
        return math.ceil(wanted)
    return min(population, math.ceil(wanted / (1 + (wanted - 1) / population))) if population else 0


def digest(pool: Iterable[Member], rule: Mapping[str, object], seed: int) -> str:
    """SHA-256 over lines of JSON: the rule with the seed, then each member in canonical order."""
    total = hashlib.sha256(_line({"rule": rule, "seed": seed}))
    for member in canonical(pool):
        moment = member.moment and member.moment.astimezone(dt.UTC).isoformat()
        total.update(_line([member.identity, member.stratum, moment]))
    return total.hexdigest()


def _line(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
