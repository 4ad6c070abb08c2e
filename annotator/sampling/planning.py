"""What a draw would give, before anything is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.collection.models import Item
from annotator.sampling import pool
from annotator.sampling.actions import checked_draw
from annotator.sampling.rules import Rule
from annotator.stats import draws
from annotator.studies.models import Study
from annotator.web.errors import BadInput

SHOWN = 20
SIZED = (draws.RANDOM, draws.PROPORTIONAL)  # what a confidence level speaks of


@dataclass(frozen=True)
class Share:
    label: str
    size: int
    wanted: int


@dataclass(frozen=True)
class First:
    """One of the first places."""

    position: int
    item: Item
    stratum: str
    moment: object
    is_wanted: bool


@dataclass(frozen=True)
class Preview:
    rule: Rule
    seed: int
    digest: str
    pool_size: int
    shares: tuple[Share, ...]
    first: tuple[First, ...]
    gaps: tuple[pool.Gap, ...]

    @property
    def wanted(self) -> int:
        return sum(share.wanted for share in self.shares)

    @property
    def lacks(self) -> str:
        return pool.said(self.gaps)


def preview(study: Study, rule: Rule, seed: int) -> Preview:
    members = pool.members(study, rule)
    drawn = checked_draw(list(members.values()), rule, seed)
    wanted = drawn.wanted()
    return Preview(
        rule=rule,
        seed=seed,
        digest=draws.digest(members.values(), rule.document(), seed),
        pool_size=len(members),
        shares=tuple(Share(part.label, part.size, wanted[part.label]) for part in drawn.strata),
        first=tuple(_first(drawn, {member.identity: pk for pk, member in members.items()})),
        gaps=tuple(pool.gaps(study, rule)),
    )


def _first(drawn: draws.Draw, ids: dict[str, int]) -> Sequence[First]:
    top = drawn.order[:SHOWN]
    chosen = {member.identity for member in drawn.chosen()}
    rows = Item.objects.select_related("repository").in_bulk([ids[member.identity] for member in top])
    return [
        First(position, rows[ids[member.identity]], member.stratum, member.moment, is_wanted=member.identity in chosen)
        for position, member in enumerate(top, 1)
    ]


def size_for(study: Study, rule: Rule, *, confidence: float, margin: float) -> int:
    """How many to draw of the rule's pool, in percent: at 95 % confidence within 5 % of the true share."""
    if rule.kind not in SIZED:
        raise BadInput("A confidence level speaks of draws at random: choose random, or proportional strata.")
    if rule.is_stratified and rule.within != draws.RANDOM:
        raise BadInput("A confidence level speaks of draws at random: order the strata at random.")
    if not (0 < confidence < 100 and 0 < margin < 100):
        raise BadInput("Confidence and margin lie between 0 and 100 percent.")
    population = pool.items(study, rule).count()
    return draws.sample_size(confidence=confidence / 100, margin=margin / 100, population=population)
