"""Drawing again: do the same bugs come out, and if not, what changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from annotator.collection.models import Item
from annotator.sampling import pool
from annotator.sampling.models import Drawn, Sample
from annotator.sampling.rules import Rule
from annotator.stats import draws
from annotator.stats.draws import Member

NAMED = 5


@dataclass(frozen=True)
class Again:
    """`holds`: the list that is kept follows from its own pool, rule and seed. `is_same`: so it does from today's pool."""

    holds: bool
    is_same: bool
    pool_size: int
    digest: str
    wanted: int  # places that the rule takes to begin with
    kept: int  # of these, how many a draw from today's pool would take as well
    changes: tuple[str, ...]


def draw_again(sample: Sample) -> Again:
    """From what was kept, and from the pool as it is today less the bugs that other draws and sheets brought."""
    rule = Rule.of(sample.rule)
    then = _kept(sample, rule)
    now = pool.members(sample.study, rule, of=sample)
    first, second = (_drawn(members.values(), rule, sample.seed) for members in (then, now))
    holds = draws.digest(then.values(), sample.rule, sample.seed) == sample.digest and list(first.order) == list(
        then.values()
    )
    digest = draws.digest(now.values(), sample.rule, sample.seed)
    chosen = {member.identity for member in first.chosen()}
    return Again(
        holds=holds,
        is_same=holds and digest == sample.digest,
        pool_size=len(now),
        digest=digest,
        wanted=len(chosen),
        kept=len(chosen & {member.identity for member in second.chosen()}),
        changes=tuple(_changes(then, now)) if digest != sample.digest else (),
    )


def _drawn(members: Iterable[Member], rule: Rule, seed: int) -> draws.Draw:
    """As many as there are, where the pool shrank below what is wanted."""
    found = list(members)
    count = None if rule.count is None else min(rule.count, len(found))
    return draws.draw(found, kind=rule.kind, count=count, within=rule.within, seed=seed)


def _kept(sample: Sample, rule: Rule) -> dict[int, Member]:
    """As the list has them, in its order."""
    rows = Drawn.objects.filter(sample=sample).order_by("position")
    told = rows.values_list("item_id", "item__identity", "stratum__label", "moment")
    return {item: Member(identity, label, moment) for item, identity, label, moment in told}


def _changes(then: Mapping[int, Member], now: Mapping[int, Member]) -> list[str]:
    """What sets today's pool apart, in words."""
    both = then.keys() & now.keys()
    told = [
        ("came in since", now.keys() - then.keys()),
        ("no longer in the pool", then.keys() - now.keys()),
        ("named otherwise", {pk for pk in both if then[pk].identity != now[pk].identity}),
        ("in another stratum", {pk for pk in both if then[pk].stratum != now[pk].stratum}),
        ("dated otherwise", {pk for pk in both if then[pk].moment != now[pk].moment}),
    ]
    return [f"{len(ids):,} {'item' if len(ids) == 1 else 'items'} {what}: {_named(ids)}" for what, ids in told if ids]


def _named(ids: Iterable[int]) -> str:
    rows: QuerySet[Item] = Item.objects.filter(pk__in=sorted(ids)[:1000]).select_related("repository")
    found = list(rows.order_by("identity")[: NAMED + 1])
    names = ", ".join(item.reference for item in found[:NAMED])
    return f"{names} …" if len(found) > NAMED else names
