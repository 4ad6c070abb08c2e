"""Nothing is lost at the labelling page: no network, no session, another window."""

import re

from playwright.sync_api import expect

from tests.journeys.desk import keys, save, sign_in, turn_at


def test_a_draft_outlives_a_lost_connection(at_desk, rating):
    page = at_desk()
    page.context.set_offline(True)
    keys(page, "r 2 . 1 s 2")
    expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
    page.context.set_offline(False)
    expect(page.locator("#save-state")).to_contain_text("Draft kept", timeout=15_000)
    page.reload()
    assert page.locator("#answer input:checked[name^=f-]").count() == 2
    assert turn_at(0).draft["answers"]["symptom"]


def test_what_was_kept_on_the_device_comes_back_where_the_server_never_had_it(at_desk, rating):
    page = at_desk()
    page.route("**/draft/", lambda route: route.abort())
    keys(page, "r 2 . 1")
    expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
    page.unroute("**/draft/")
    page.reload()
    expect(page.locator(".fct output").first).to_have_text("Type Issue › Tensor type issue")
    expect(page.locator("#save-state")).to_contain_text("Draft kept")


def test_an_answer_given_offline_is_sent_once_when_the_connection_is_back(at_desk, rating):
    page = at_desk()
    keys(page, "r 2 . 1 s 2 t 3 l 3")
    before = page.title()
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
    page.context.set_offline(False)
    expect(page).not_to_have_title(before, timeout=15_000)
    assert turn_at(0).revision == 1


def test_a_draft_outlives_signing_out(at_desk, rating, alice):
    page = at_desk()
    keys(page, "r 2 . 1")
    expect(page.locator("#save-state")).to_contain_text("Draft kept")
    page.context.clear_cookies(name="sessionid")
    keys(page, "s 2")
    expect(page.locator("#save-state")).to_have_text("Signed out, kept on this device")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    sign_in(page.context, alice)
    page.reload()
    expect(page.locator("#answer input:checked[name^=f-]")).to_have_count(2)


def test_an_answer_sent_after_signing_out_is_kept_and_never_called_saved(at_desk, rating, alice):
    page = at_desk()
    keys(page, "r 5 s 1 t 1 l 1")
    save(page)
    expect(page.locator("#live")).to_contain_text("Saved. Round 1")
    keys(page, "r 2 s 2 t 3 l 3")
    expect(page.locator("#save-state")).to_contain_text("Draft kept")
    page.context.clear_cookies(name="sessionid")
    before = page.title()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#save-state")).to_have_text("Signed out, kept on this device")
    expect(page.get_by_role("alert")).to_contain_text("Not saved: you are signed out")
    expect(page.locator("#live")).to_be_empty()
    assert page.title() == before
    assert page.get_by_role("link", name="Sign in again").get_attribute("href").startswith("/accounts/login/?next=")
    sign_in(page.context, alice)
    page.reload()
    expect(page.locator("#answer input:checked[name^=f-]")).to_have_count(4)
    assert turn_at(1).state == "todo"


def test_a_refused_save_leaves_no_word_of_an_earlier_one(at_desk, rating):
    page = at_desk()
    keys(page, "r 5 s 1 t 1 l 1")
    save(page)
    expect(page.locator("#live")).to_contain_text("Saved.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not saved.")
    expect(page.locator("#save-state")).to_contain_text("Draft")
    expect(page.get_by_text(re.compile("^Saved"))).to_have_count(0)
    expect(page.locator("#live")).to_be_empty()


def test_two_windows_on_one_bug_are_compared_not_overwritten(at_desk, rating):
    one, two = at_desk(), at_desk()
    keys(one, "s 1")
    expect(one.locator("#save-state")).to_contain_text("Draft kept")
    keys(two, "s 2")
    expect(two.locator("#save-state")).to_have_text("Changed elsewhere")
    two.get_by_role("button", name="Keep what stands here").click()
    expect(two.locator("#save-state")).to_contain_text("Draft kept")
    keys(one, "s 3")
    one.get_by_role("button", name="Load the other").click()
    expect(one.locator("#answer input:checked[name^=f-]")).to_have_attribute("data-k", "2")


def test_signing_in_again_elsewhere_does_not_cost_the_answer(at_desk, rating):
    page = at_desk()
    keys(page, "r 2 . 1 s 2 t 3 l 3")
    expect(page.locator("#save-state")).to_contain_text("Draft kept")
    token = {"name": "csrftoken", "value": "a" * 32, "domain": "localhost", "path": "/"}  # a sign-in gives a new one
    page.context.add_cookies([token])
    save(page)
    assert turn_at(0).revision == 1
