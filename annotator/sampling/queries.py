"""How a sample stands: its strata, what is wanted of them, and which of the reserve would replace which bug."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotator.sampling.models import Bug, Drawn, Sample, Stratum
from annotator.sampling.rules import Rule

State = Drawn.State


@dataclass(frozen=True)
class Part:
    """A stratum in numbers: items are taken or in reserve; bugs stay or left, and those that stay fill the quota."""

    id: int
    label: str
    size: int
    quota: int | None
    taken: int = 0
    overtaken: int = 0  # in reserve, but a bug of the study in another way by now
    bugs: int = 0
    left: int = 0
    unreplaced: int = 0  # of those that left
    wanted: int = 0  # the quota, or what follows where there is none

    @property
    def reserve(self) -> int:
        return self.size - self.taken - self.overtaken

    @property
    def staying(self) -> int:
        return self.bugs - self.left

    @property
    def most(self) -> int:
        """As many bugs as it can still yield, one an item."""
        return self.staying + self.reserve

    @property
    def short(self) -> int:
        return max(0, self.wanted - self.staying)

    @property
    def beyond(self) -> int:
        return max(0, self.staying - self.wanted)

    @property
    def to_replace(self) -> int:
        return min(self.short, self.unreplaced, self.reserve)


def parts(sample: Sample, *, leaving: Collection[int] = ()) -> list[Part]:
    """By label; four queries. `leaving`: ids of bugs that are counted as if they had left."""
    counts = _counts(Drawn.objects.filter(sample=sample), leaving)
    found = [
        Part(stratum.pk, stratum.label, stratum.size, stratum.quota, **counts.get(stratum.pk, {}))
        for stratum in Stratum.objects.filter(sample=sample).order_by("label")
    ]
    fewest = min((part.most for part in found), default=0)
    return [replace(part, wanted=fewest if part.quota is None else part.quota) for part in found]


def _counts(places: "QuerySet[Drawn]", leaving: Collection[int]) -> dict[int, dict[str, int]]:
    """By the stratum's id."""
    by_stratum = places.order_by().values("stratum")
    of_places = by_stratum.annotate(
        taken=Count("pk", filter=Q(state=State.TAKEN)),
        overtaken=Count("pk", filter=Q(_has_a_bug(), state=State.RESERVE)),
    )
    gone = Q(item__bugs__left_at__isnull=False) | Q(item__bugs__in=list(leaving))
    of_bugs = by_stratum.filter(state=State.TAKEN).annotate(
        bugs=Count("item__bugs"),
        left=Count("item__bugs", filter=gone),
        unreplaced=Count("item__bugs", filter=gone & Q(item__bugs__replaced_by=None)),
    )
    found: dict[int, dict[str, int]] = {}
    for row in chain[Any](of_places, of_bugs):
        stratum = row["stratum"]
        found.setdefault(stratum, {}).update({name: n for name, n in row.items() if name != "stratum"})
    return found


@dataclass(frozen=True)
class Replacement:
    """A bug that left, or is about to, and the next of the reserve."""

    left: Bug
    place: Drawn


def replacements(sample: Sample, *, leaving: Collection[int] = ()) -> list[Replacement]:
    """The bugs that left first come first; no more than the quota is short of, nor than the reserve holds."""
    found = []
    for part in parts(sample, leaving=leaving):
        if part.to_replace:
            gone = unreplaced(part.id, leaving=leaving)[: part.to_replace]
            found += [
                Replacement(*pair) for pair in zip(gone, next_of(sample, {part.id: part.to_replace}), strict=False)
            ]
    return found


def unreplaced(stratum_id: int, *, leaving: Collection[int] = ()) -> "QuerySet[Bug]":
    taken = Drawn.objects.filter(stratum=stratum_id, state=State.TAKEN, item=OuterRef("item"))
    bugs = Bug.objects.filter(Exists(taken), replaced_by=None).filter(Q(left_at__isnull=False) | Q(pk__in=leaving))
    return bugs.select_related("item__repository").order_by(F("left_at").asc(nulls_last=True), "number")


def next_of(sample: Sample, wanted: dict[int, int], *, most: int | None = None) -> Iterator[Drawn]:
    """The next places of the reserve: of each stratum, by id, as many as are wanted; those with a bug are passed over."""
    left = {stratum: n for stratum, n in wanted.items() if n > 0}
    rows = Drawn.objects.filter(sample=sample, stratum__in=left, state=State.RESERVE).exclude(_has_a_bug())
    for place in rows.select_related("item__repository").order_by("position").iterator(chunk_size=500):
        if not left or most == 0:
            return
        if left.get(place.stratum_id):
            left[place.stratum_id] -= 1
            left = left if left[place.stratum_id] else {key: n for key, n in left.items() if n}
            most = None if most is None else most - 1
            yield place


def _has_a_bug() -> Exists:
    return Exists(Bug.objects.filter(item=OuterRef("item")))


def total(of: Sequence[Part]) -> Part:
    """All strata as one."""
    names = ("size", "taken", "overtaken", "bugs", "left", "unreplaced", "wanted")
    return Part(0, "", quota=None, **{name: sum(getattr(part, name) for part in of) for name in names})


@dataclass(frozen=True)
class Line:
    """A sample in a list of samples."""

    sample: Sample
    all: Part

    @property
    def rule(self) -> Rule:
        return Rule.of(self.sample.rule)


def lines(samples: Iterable[Sample]) -> list[Line]:
    return [line(sample) for sample in samples]


def line(sample: Sample) -> Line:
    return Line(sample, total(parts(sample)))
