"""A pool of pull requests of four frameworks, merged one a day."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from annotator.accounts.models import User
from annotator.collection.actions import ItemCopy, keep_copies
from annotator.collection.models import Item
from annotator.sampling.actions import draw_sample
from annotator.sampling.models import Sample
from annotator.sampling.rules import Rule
from annotator.studies.models import Study

NEWEST_DAY = dt.datetime(2021, 10, 31, 12, tzinfo=dt.UTC)


def fill_pool(study: Study, sizes: dict[str, int]) -> list[Item]:
    """Number 1 of each repository is the newest."""
    copies = [
        ItemCopy(
            repository=label,
            number=number,
            identity=f"github.com/{label}#{number}",
            url=f"https://github.com/{label}/pull/{number}",
            title=f"Fix {label} {number}",
            author="finch",
            opened_at=NEWEST_DAY - dt.timedelta(days=number + 9),
            merged_at=NEWEST_DAY - dt.timedelta(days=number),
            body="",
        )
        for label, size in sizes.items()
        for number in range(1, size + 1)
    ]
    return keep_copies(study=study, copies=copies, by=User.objects.get(username="lee"))


@pytest.fixture
def pool(study: Study, lee: Any) -> list[Item]:
    return fill_pool(study, {"axon/axon": 12, "lumen/lumen": 8, "tessera/tessera": 20})


@pytest.fixture
def draw(study: Study, lee: Any) -> Callable[..., Sample]:
    """Draw a sample by the rule that the options make."""

    def drawn(kind: str = "all", *, name: str = "Main sample", seed: int = 7, reason: str = "", **rule: Any) -> Sample:
        return draw_sample(
            study=study, name=name, rule=Rule(kind=kind, **rule), seed=seed, by=lee, override_reason=reason
        )

    return drawn
