"""A study's short name stands first in the addresses of its pages."""

import pytest
from django.conf import settings

from annotator.overview.starting import short_name
from annotator.studies.actions import TAKEN_BY_PAGES, start_study
from annotator.web.errors import BadInput
from tests.integration.blindness.addresses import ARGUMENT, routes


def first_parts() -> set[str]:
    parts = {route.split("/")[1] for route in routes()} | {settings.STATIC_URL.strip("/")}
    return {part for part in parts if part and not ARGUMENT.match(part)}


def test_no_study_can_be_called_as_a_page_is():
    assert first_parts() >= {"accounts", "api", "new", "static", "healthz"}
    assert first_parts() <= TAKEN_BY_PAGES


@pytest.mark.django_db
@pytest.mark.parametrize("slug", sorted(first_parts()))
def test_a_short_name_that_pages_have_is_taken(slug):
    with pytest.raises(BadInput, match="is taken"):
        start_study(slug=slug, title="Bugs", by=None)


@pytest.mark.django_db
def test_a_title_that_reads_like_a_page_leads_to_another_short_name():
    assert [short_name(title) for title in ("API", "New", "Healthz")] == ["api-2", "new-2", "healthz-2"]
