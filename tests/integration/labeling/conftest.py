"""A rater at the labelling page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.integration.labeling.label_page import GOOD


@pytest.fixture
def rater(client: Client, alice) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def fields(study) -> Callable[..., dict[str, Any]]:
    """What the form sends for answers given by name."""

    def build(answers: dict[str, str] = GOOD, **more: Any) -> dict[str, Any]:
        facets = {facet.key: facet for facet in study.codebook.facets.all()}
        chosen = {f"f-{key}": facets[key].categories.get(name=name).uid for key, name in answers.items()}
        return {"act": "submit", "revision": "0", **chosen, **more}

    return build
