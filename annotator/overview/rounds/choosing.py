"""Which bugs go into the next round: repeatable, and blind to any label."""

import random
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.adjudication.queries import FINAL_KINDS
from annotator.collection.models import Repository
from annotator.intake.models import Import
from annotator.labeling.models import RoundBug
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole

FREE, ALL = "free", "all"
EVERY, FIRST, RANDOM = "every", "first", "random"


@dataclass(frozen=True)
class Wanted:
    """A choice of bugs. `source` is free, all or the number of a round; `take` is every, first or random."""

    source: str = FREE
    repository: str = ""
    import_number: int | None = None
    take: str = EVERY
    count: int | None = None
    seed: int = 0


def in_a_main_round() -> Exists:
    """Of bugs: some round makes, or will make, their final labels."""
    return Exists(RoundBug.objects.filter(bug=OuterRef("pk"), round__kind__in=FINAL_KINDS))


def not_yet_in_a_main_round(study: Study) -> QuerySet[Bug]:
    return Bug.objects.staying().filter(~in_a_main_round(), study=study)


def choose(study: Study, wanted: Wanted) -> list[Bug]:
    """The bugs in the order of their numbers."""
    bugs = _source(study, wanted.source)
    if wanted.repository:
        bugs = bugs.filter(item__repository__label=wanted.repository)
    if wanted.import_number is not None:
        bugs = bugs.filter(_of_import(study, wanted.import_number))
    numbers = list(bugs.order_by("number").values_list("number", flat=True))
    chosen = _take(numbers, wanted)
    return list(Bug.objects.filter(study=study, number__in=chosen).order_by("number"))


def _source(study: Study, source: str) -> QuerySet[Bug]:
    if source == FREE:
        return not_yet_in_a_main_round(study)
    if source == ALL:
        return Bug.objects.staying().filter(study=study)
    number = whole(source)
    if number is None:
        raise BadInput("Choose where the bugs come from.")
    of_round = Bug.objects.staying().filter(study=study)
    return of_round.filter(round_bugs__round__number=number, round_bugs__round__study=study)


def _of_import(study: Study, number: int) -> Q:
    """Bugs that this import brought; it keeps their ids as runs from first to last."""
    sheet = Import.objects.filter(study=study, number=number, state=Import.State.DONE).only("created_ids").first()
    if sheet is None:
        raise BadInput(f"There is no import {number}.")
    runs = [Q(pk__range=(first, last)) for first, last in sheet.created_ids.get("bug", [])]
    return reduce(or_, runs, Q(pk__in=[]))


def _take(numbers: list[int], wanted: Wanted) -> list[int]:
    if wanted.take == EVERY:
        return numbers
    if not wanted.count:
        raise BadInput("Say how many bugs the round takes.")
    if wanted.count > len(numbers):
        raise BadInput(f"{wanted.count} bugs are wanted, {len(numbers)} match. Take fewer or widen the choice.")
    if wanted.take == FIRST:
        return numbers[: wanted.count]
    chance = random.Random(f"{wanted.seed}:bugs")  # noqa: S311  # repeatable, not secret
    return chance.sample(numbers, wanted.count)


def repositories(study: Study) -> list[str]:
    return list(Repository.objects.filter(study=study).order_by("label").values_list("label", flat=True))
