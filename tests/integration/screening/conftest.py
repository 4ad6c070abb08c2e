"""A screening of four candidates that Alice and Bob read, and its pages as one of the cast."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotator.accounts.models import User
from annotator.screening.models import Screening
from annotator.studies.models import Study
from tests.factories.screening import make_screening


@pytest.fixture
def screening(study: Study, alice: User, bob: User, lee: User) -> Screening:
    return make_screening(study, reviewers=[alice, bob], by=lee, name="First reading")


@pytest.fixture
def as_(client: Client) -> Callable[[User], Client]:
    def signed_in(user: User) -> Client:
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def at() -> Callable[..., str]:
    """An address below the study."""

    def address(*parts: Any) -> str:
        return "/frameworks/screening/" + "".join(f"{part}/" for part in parts)

    return address
