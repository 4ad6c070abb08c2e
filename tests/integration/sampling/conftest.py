"""A pool of pull requests of four frameworks, merged one a day."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from annotator.collection.models import Item, Repository
from annotator.sampling.actions import draw_sample
from annotator.sampling.models import Sample
from annotator.sampling.rules import Rule
from annotator.studies.models import Study

NEWEST_DAY = dt.datetime(2021, 10, 31, 12, tzinfo=dt.UTC)


def fill_pool(study: Study, sizes: dict[str, int]) -> list[Item]:
    """Number 1 of each repository is the newest."""
    repositories = {label: Repository.objects.get_or_create(study=study, label=label)[0] for label in sizes}
    return Item.objects.bulk_create(
        Item(
            study=study,
            kind=Item.Kind.PULL_REQUEST,
            repository=repositories[label],
            number=number,
            identity=f"github.com/{label}#{number}",
            title=f"Fix {label} {number}",
            merged_at=NEWEST_DAY - dt.timedelta(days=number),
        )
        for label, size in sizes.items()
        for number in range(1, size + 1)
    )


@pytest.fixture
def pool(study: Study) -> list[Item]:
    return fill_pool(study, {"axon/axon": 12, "lumen/lumen": 8, "tessera/tessera": 20})


@pytest.fixture
def draw(study: Study, lee: Any) -> Callable[..., Sample]:
    """Draw a sample by the rule that the options make."""

    def drawn(kind: str = "all", *, name: str = "Main sample", seed: int = 7, reason: str = "", **rule: Any) -> Sample:
        return draw_sample(
            study=study, name=name, rule=Rule(kind=kind, **rule), seed=seed, by=lee, override_reason=reason
        )

    return drawn
