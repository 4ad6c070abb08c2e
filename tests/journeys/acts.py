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


def label_all(page: Page, answers: Mapping[int, str]) -> None:
    """Label every bug of the round that is open on the page, by the keys for the bug's number."""
    for _ in answers:
        before = page.title()
        found = re.search(r"bug (\d+)", before)
        assert found, f"{before} is no bug's page"
        keys(page, answers[int(found[1])])
        page.keyboard.press("Control+Enter")
        expect(page.locator("#main h1")).to_be_focused()
        expect(page).not_to_have_title(before)
