"""The page of the REST interface, once Swagger UI has drawn it."""

import pytest
from playwright.sync_api import expect

from tests.journeys.acts import sign_in, with_password

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_operation_is_unfolded_and_tried(sit_down, accessible, fits, alice):
    page = sit_down().page
    with_password(alice)
    sign_in(page, "alice")
    page.set_default_timeout(60_000)  # the description of all operations is written anew
    page.goto("/api/v1/docs/")
    page.locator(".opblock-tag").filter(has_text="accounts").click()
    accessible(page)
    page.locator("#operations-accounts-me_retrieve button").first.click()
    page.get_by_role("button", name="Try it out").click()
    accessible(page)
    fits(page)
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table")).to_contain_text('"username": "alice"', timeout=60_000)
