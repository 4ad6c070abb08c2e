"""What people do at the keyboard, in the words of the journeys."""

import re
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page, expect

from annotator.accounts.models import User

PASSWORD = "correct horse 7"


def with_password(user: User) -> User:
    user.set_password(PASSWORD)
    user.save(update_fields=["password"])
    return user


def sign_in(page: Page, username: str, *, password: str = PASSWORD) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Username").focus()
    page.keyboard.type(username)
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your studies")).to_be_visible()


def keys(page: Page, pressed: str) -> None:
    for key in pressed.split():
        page.keyboard.press(key)


def follow(page: Page, role: Any, name: str) -> None:
    """Press Enter on a link or button, and wait until the next page is there with its keys."""
    with page.expect_navigation():
        page.get_by_role(role, name=name).first.press("Enter")


def number_of(page: Page) -> int:
    """The number of the bug that is before the rater."""
    found = re.search(r"bug (\d+)", page.title())
    assert found, f"{page.title()} is no bug's page"
    return int(found[1])


def choose(page: Page, facet: str, category: str) -> None:
    """By the keys that the page shows beside the facet and the category."""
    question = page.locator(f'fieldset[data-name="{facet}"]')
    option = question.locator(".opt").filter(has=page.locator(".cut").get_by_text(category, exact=True))
    keys(page, f"{question.get_attribute('data-key')} {option.locator('input').first.get_attribute('data-k')}")


def save(page: Page) -> None:
    """Save, and wait until the next bug is there, or that none is left."""
    before = page.title()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#main h1")).to_be_focused()
    expect(page).not_to_have_title(before)


def label_all(page: Page, answers: Mapping[int, str]) -> None:
    """Label every bug of the round that is open on the page, by the keys for the bug's number."""
    for _ in answers:
        keys(page, answers[number_of(page)])
        save(page)
