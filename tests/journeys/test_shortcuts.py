"""Keys that every page has."""

from playwright.sync_api import expect

from tests.journeys.acts import sign_in, with_password


def test_a_bug_is_found_by_keyboard_from_any_page(sit_down, live_server, study, bugs, lee):
    with_password(lee)
    page = sit_down().page
    sign_in(page, "lee")
    page.goto("/frameworks/members/")
    page.keyboard.press("/")
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/frameworks/bugs/4/")
    page.goto("/frameworks/bugs/")
    page.keyboard.press("/")
    page.keyboard.type("wrong")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#f-q")).to_have_value("wrong")
    expect(page.locator("tbody tr")).to_have_count(6)


def test_the_keys_are_told_and_can_be_switched_off(sit_down, live_server, study, lee):
    with_password(lee)
    page = sit_down().page
    sign_in(page, "lee")
    page.goto("/frameworks/codebook/")
    told = page.locator("#pop-keys")
    page.keyboard.press("?")
    expect(told).to_be_visible()
    expect(told).to_contain_text("along the tree")
    page.get_by_label("Single-key shortcuts on").uncheck()
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    page.keyboard.press("?")
    expect(told).to_be_hidden()
    page.reload()
    page.keyboard.press("/")
    expect(page.locator("#pop-search")).to_be_hidden()
