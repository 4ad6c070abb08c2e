"""A lead draws a sample: the preview follows the form, the draw gives what it showed, and the flow tells of it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from annotator.accounts.models import User
from annotator.studies.models import Study
from tests.factories import StudyFactory, UserFactory, make_codebook, member
from tests.integration.sampling.conftest import fill_pool
from tests.journeys.acts import sign_in, with_password


@pytest.fixture
def study(live_server: Any) -> Study:
    lee: User = with_password(UserFactory(username="lee"))
    study = StudyFactory(slug="frameworks")
    member(study, lee, "lead")
    make_codebook(study, {"cause": ["type", "shape"]})
    fill_pool(study, {"axon/axon": 12, "lumen/lumen": 8})
    return study


def test_the_preview_follows_the_form_and_is_what_is_drawn(sit_down, study, accessible, fits):
    page = sit_down().page
    sign_in(page, "lee")
    page.goto("/frameworks/sampling/new/")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("20 of 20: all of the pool")
    expect(page.get_by_label("How many bugs")).to_be_hidden()
    page.get_by_label("by stratum, the same number of each").check()
    expect(preview).to_contain_text("Say how many bugs are wanted")
    page.get_by_label("How many bugs").fill("3")
    expect(preview).to_contain_text("6 of 20: 3 of each repository, merged last first.")
    page.get_by_label("Order within a stratum").select_option("random")
    expect(preview).to_contain_text("6 of 20: 3 of each repository, at random.")
    expect(page.get_by_label("Newest goes by the date")).to_be_hidden()
    accessible(page)
    fits(page)
    first = preview.get_by_role("rowheader").nth(3).inner_text()
    page.get_by_role("button", name="Draw the sample").click()
    expect(page.get_by_role("heading", name="Main sample")).to_be_visible()
    assert page.get_by_role("region", name="Places of the list").get_by_role("rowheader").first.inner_text() in first
    page.get_by_role("button", name="Take up").click()
    expect(page.get_by_text("6 bugs taken up: bug 1 to 6.")).to_be_visible()
    page.get_by_role("link", name="Sampling").click()
    page.get_by_role("link", name="Flow").click()
    expect(page.get_by_text("It adds up.")).to_be_visible()
    expect(page.get_by_role("row", name="not drawn: reserve")).to_contain_text("14")
    accessible(page)


def test_without_script_a_button_shows_the_preview(sit_down, study):
    page = sit_down(scripts=False).page
    sign_in(page, "lee")
    page.goto("/frameworks/sampling/new/")
    page.get_by_label("at random", exact=True).check()
    page.get_by_label("How many bugs").fill("5")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("5 of 20: 5 at random.")
