"""A screening with its votes, built as people would build it."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotator.accounts.models import User
from annotator.collection.models import Item
from annotator.screening.actions import open_screening, vote
from annotator.screening.choosing import Wanted
from annotator.screening.criteria import write
from annotator.screening.models import Candidate, Criterion, Reading, Screening, Vote
from annotator.studies.models import Study
from tests.factories import ItemFactory

INCLUDE, EXCLUDE = "include", "exclude"


def make_criteria(study: Study, *, by: User) -> list[Criterion]:
    """I1, E1 and E2, once a study."""
    if Criterion.objects.filter(study=study).exists():
        return list(Criterion.objects.filter(study=study))
    wanted = [(INCLUDE, "merged"), (EXCLUDE, "new feature"), (EXCLUDE, "documentation only")]
    return [write(study=study, kind=kind, name=name, text=f"It is {name}.", by=by) for kind, name in wanted]


def make_screening(
    study: Study, *, reviewers: Sequence[User], by: User, count: int = 4, name: str = "", **options: Any
) -> Screening:
    """Of `count` new items; their titles begin as they are numbered in the screening: Fix 1, Fix 2 …"""
    make_criteria(study, by=by)
    name = name or f"Screening {Screening.objects.filter(study=study).count() + 1}"
    for place in range(1, count + 1):
        ItemFactory(study=study, title=f"Fix {place} of {name}", identity=f"{name} {place:04}")
    wanted = Wanted(words=f" of {name}")
    return open_screening(study=study, name=name, reviewers=reviewers, wanted=wanted, by=by, **options)


def reading(screening: Screening, position: int, reviewer: User) -> Reading:
    return Reading.objects.get(screening=screening, candidate__position=position, reviewer=reviewer)


def screen(screening: Screening, reviewer: User, votes: Mapping[int, str], comment: str = "") -> list[Vote]:
    """Votes by candidate: “in”, or the code of the criterion that keeps it out."""
    return [
        vote(
            reading=reading(screening, position, reviewer),
            decision=INCLUDE if said == "in" else EXCLUDE,
            criterion="" if said == "in" else said,
            comment=comment,
            by=reviewer,
        )
        for position, said in votes.items()
    ]


def candidate(screening: Screening, position: int) -> Candidate:
    return Candidate.objects.select_related("item").get(screening=screening, position=position)


def item(screening: Screening, position: int) -> Item:
    return candidate(screening, position).item
