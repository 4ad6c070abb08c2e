"""Screening in a real browser: by keyboard, on a phone, without script, and with a connection that is lost."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotator.collection.models import Comment, Item, ItemText
from annotator.screening.actions import close
from annotator.screening.models import Screening, Vote
from tests.factories import StudyFactory, make_codebook, member
from tests.factories.screening import make_screening, screen

PHONE = {"width": 390, "height": 844}
EXPECTED = ("net::ERR_", "htmx:")  # what the browser notes where a connection is lost


@pytest.fixture
def reading(live_server: Any, alice: Any, bob: Any, lee: Any) -> Screening:
    """Twelve candidates with a copy, which Alice and Bob read."""
    study = StudyFactory(slug="frameworks")
    member(study, lee, "lead")
    member(study, alice, "rater")
    member(study, bob, "rater")
    make_codebook(study, {"cause": ["type", "shape"]})
    opened = make_screening(study, reviewers=[alice, bob], by=lee, count=12, name="First reading")
    for item in Item.objects.filter(study=study):
        Item.objects.filter(pk=item.pk).update(fetched_at="2026-03-01T00:00:00Z", state="closed", labels=["type:bug"])
        ItemText.objects.create(item=item, body=f"The sum was wrong in {item.title}.")
        Comment.objects.create(item=item, position=0, author="quill-7", body="Same here.")
    return opened


@pytest.fixture
def at_desk(sit_down: Callable[..., Any], reading: Screening) -> Iterator[Callable[..., Page]]:
    """Somebody, signed in, at a page of the study."""

    def open_page(user: Any, address: str = "screening/1/read/", **window: Any) -> Page:
        person = sit_down(**window)
        people.append(person)
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        person.context.add_cookies([{"name": "sessionid", "value": session, "domain": "localhost", "path": "/"}])
        person.page.goto(f"/frameworks/{address}")
        return person.page

    people: list[Any] = []
    yield open_page
    for person in people:
        person.complaints[:] = [said for said in person.complaints if not any(word in said for word in EXPECTED)]


def press(page: Page, keys: str) -> None:
    """Keys that vote, and the next candidate."""
    before = page.title()
    for key in keys.split():
        page.keyboard.press(key)
    expect(page).not_to_have_title(before)


def votes(user: Any) -> list[str]:
    rows = Vote.objects.filter(reviewer=user).select_related("criterion").order_by("at")
    return [row.criterion.code if row.criterion else "in" for row in rows]


def test_a_screening_is_read_by_keys_alone(at_desk, alice):
    page = at_desk(alice)
    posts: list[str] = []
    page.on("request", lambda request: request.method == "POST" and posts.append(request.url))
    for keys in ("i", "e 1", "e 2", "i", "e a", "i"):
        press(page, keys)
    assert votes(alice) == ["in", "E1", "E2", "in", "I1", "in"]
    assert len(posts) == 6  # one request a vote
    press(page, "x")
    page.keyboard.press("c")
    page.keyboard.type("I am in two minds, e 1")
    page.keyboard.press("Escape")
    press(page, "e 1")
    assert Vote.objects.exclude(comment="").get().comment == "I am in two minds, e 1"
    press(page, "z")  # back at it, the vote taken back, the comment kept
    expect(page.locator("#comment")).to_have_value("I am in two minds, e 1")
    assert len(votes(alice)) == 6
    for keys in ("i", "i", "i", "i", "i"):
        press(page, keys)
    page.keyboard.press("i")  # the one put off
    expect(page.get_by_text("All done here.")).to_be_visible()
    assert len(votes(alice)) == 12
    page.keyboard.press("z")
    expect(page.get_by_role("button", name="Include")).to_be_visible()
    assert len(votes(alice)) == 11


def test_a_key_that_names_no_criterion_votes_nothing(at_desk, alice):
    page = at_desk(alice)
    page.keyboard.press("e")
    expect(page.locator("#exclude")).to_have_class("crits armed")
    page.keyboard.press("9")
    expect(page.locator("#live")).to_have_text("No criterion has the key 9.")
    page.keyboard.press("i")  # still waits for a criterion
    page.keyboard.press("Escape")
    expect(page.locator("#exclude")).to_have_class("crits")
    assert not Vote.objects.exists()
    press(page, "i")
    assert votes(alice) == ["in"]


def is_fetched_ahead(page):
    """It may have come before anybody could wait for it."""
    page.wait_for_timeout(100)
    return page.evaluate("performance.getEntriesByType('resource').some((one) => one.name.endsWith('/text/'))")


def test_the_next_one_is_there_before_it_is_asked_for(at_desk, alice):
    page = at_desk(alice)
    assert any(is_fetched_ahead(page) for _ in range(100))
    fetched: list[int] = []
    page.on("response", lambda answer: answer.request.method == "POST" and fetched.append(len(answer.body())))
    press(page, "i")
    expect(page.locator("#desc")).to_contain_text("The sum was wrong")
    assert fetched[0] < 8_000
    expect(page.locator("#bug-title")).to_be_focused()


def test_a_vote_waits_for_the_connection(at_desk, alice):
    page = at_desk(alice)
    before = page.title()
    page.context.set_offline(True)
    page.keyboard.press("i")
    expect(page.locator("#save-state")).to_have_text("Offline, sent again by itself")
    page.context.set_offline(False)
    expect(page).not_to_have_title(before)
    expect(page.locator("#save-state")).to_contain_text("Saved")
    assert votes(alice) == ["in"]


def test_on_a_phone_each_vote_is_a_tap(at_desk, alice, accessible):
    page = at_desk(alice, size=PHONE)
    before = page.title()
    page.get_by_role("button", name="Include").click()
    expect(page).not_to_have_title(before)
    before = page.title()
    page.get_by_role("link", name="Exclude…").click()
    page.get_by_role("button", name="E2 documentation only").click()
    expect(page).not_to_have_title(before)
    assert votes(alice) == ["in", "E2"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    accessible(page)


def test_it_works_without_script(at_desk, alice, bob, lee, reading):
    page = at_desk(alice, scripts=False)
    for name in ("Include", "E1 new feature", "I1 merged", "Later"):
        before = page.title()
        page.get_by_role("button", name=name).first.click()
        expect(page).not_to_have_title(before)
    assert votes(alice) == ["in", "E1", "I1"]
    page.get_by_role("button", name="Undo").click()
    assert len(votes(alice)) == 2
    screen(reading, alice, dict.fromkeys(range(1, 13), "in"))
    screen(reading, bob, dict.fromkeys(range(1, 12), "in") | {12: "E1"})
    close(screening=reading, by=lee)
    lead = at_desk(lee, "screening/1/conflicts/", scripts=False)
    lead.get_by_role("link", name="settle").click()
    lead.get_by_label("Decision", exact=True).select_option("include")
    lead.get_by_label("Why", exact=True).fill("We looked again.")
    lead.get_by_role("button", name="Decide").click()
    expect(lead.get_by_text("No conflict is left in this screening.")).to_be_visible()


def test_the_pages_are_accessible(at_desk, alice, bob, lee, reading, accessible):
    page = at_desk(alice)
    page.keyboard.press("e")
    accessible(page)
    screen(reading, alice, dict.fromkeys(range(1, 13), "in"))
    screen(reading, bob, dict.fromkeys(range(1, 11), "in") | {11: "E2", 12: "E1"})
    close(screening=reading, by=lee)
    lead = at_desk(lee, "screening/1/")
    expect(lead.get_by_text("alice × bob")).to_be_visible()  # the agreement came in
    accessible(lead)
    for address in ("", "criteria/", "new/", "1/conflicts/", "1/candidates/1/", "1/candidates/12/", "candidates/"):
        lead.goto(f"/frameworks/screening/{address}")
        accessible(lead)
