"""The cast: Alice and Bob rate, Ada adjudicates, Lee leads, Charlie is a stranger."""

from collections.abc import Iterator
from typing import Any

import pytest

from annotator.accounts.models import User
from annotator.codebook import choices
from annotator.labeling.models import Round
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from tests.factories import StudyFactory, UserFactory, make_bugs, make_codebook, make_round, member


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    """A rolled-back test leaves ids that the next one uses again."""
    choices._read.cache_clear()
    return


@pytest.fixture
def alice(db: Any) -> User:
    return UserFactory(username="alice")


@pytest.fixture
def bob(db: Any) -> User:
    return UserFactory(username="bob")


@pytest.fixture
def ada(db: Any) -> User:
    return UserFactory(username="ada")


@pytest.fixture
def lee(db: Any) -> User:
    return UserFactory(username="lee")


@pytest.fixture
def charlie(db: Any) -> User:
    return UserFactory(username="charlie")


@pytest.fixture
def study(alice: User, bob: User, ada: User, lee: User) -> Study:
    """A study with its people and a codebook of two facets, the second optional."""
    study = StudyFactory(slug="frameworks")
    member(study, lee, "lead")
    member(study, alice, "rater")
    member(study, bob, "rater")
    member(study, ada, "adjudicator")
    make_codebook(study, {"cause": ["type", "shape", "api"], "stage": ["training", "deployment"]}, optional=["stage"])
    return study


@pytest.fixture
def bugs(study: Study) -> list[Bug]:
    return make_bugs(study, 6)


@pytest.fixture
def main_round(study: Study, bugs: list[Bug], alice: User, bob: User, lee: User) -> Round:
    """Six bugs, Alice and Bob on each, open."""
    return make_round(study, bugs=bugs, raters=[alice, bob], by=lee, name="Round 1")
