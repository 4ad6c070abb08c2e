"""A study's home stays fresh while somebody leaves it open."""

from playwright.sync_api import expect

from annotator.overview.rounds.closing import close_round
from tests.factories import answer
from tests.journeys.acts import sign_in, with_password

SAME = {"cause": "type", "stage": "training"}


def test_the_home_is_fresh_twice_a_minute_and_keeps_its_place(sit_down, main_round, bugs, alice, bob, lee):
    page = sit_down().page
    with_password(lee)
    sign_in(page, "lee")
    page.clock.install()
    page.goto("/frameworks/")
    labelled = page.locator("#tile-labeling .big")
    expect(labelled).to_have_text("0")
    page.evaluate("window.stays = true")
    page.locator("#tile-labeling").focus()
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, SAME)
    page.clock.fast_forward(20_000)
    expect(labelled).to_have_text("0")
    page.clock.fast_forward(11_000)
    expect(labelled).to_have_text("1")
    close_round(round_=main_round, by=lee)
    page.clock.fast_forward(31_000)
    expect(page.locator("#events")).to_contain_text("closed a round")
    expect(page.locator("#tile-labeling")).to_be_focused()
    assert page.evaluate("window.stays")


def test_an_open_home_tells_a_rater_nothing_of_the_other(sit_down, main_round, bugs, alice, bob):
    page = sit_down().page
    with_password(alice)
    sign_in(page, "alice")
    page.clock.install()
    page.goto("/frameworks/")
    before = page.locator("main").inner_html()
    for bug in bugs:
        answer(main_round, bug, bob, SAME)
    with page.expect_response("**/frameworks/"):
        page.clock.fast_forward(31_000)
    expect(page.locator(".htmx-request")).to_have_count(0)
    assert page.locator("main").inner_html() == before
