"""A second factor: set up with an app, asked for at the next sign-in, replaced by a recovery code, taken away."""

import base64
import hashlib
import hmac
import struct
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.acts import PASSWORD, follow, sign_in, with_password

Look = Callable[[Page], None]


@pytest.fixture
def looks_right(accessible: Look, fits: Look) -> Look:
    def look(page: Page) -> None:
        accessible(page)
        fits(page)

    return look


def test_second_factor_is_set_up_asked_for_and_taken_away(sit_down, live_server, alice, looks_right, settings):
    settings.MFA_TOTP_TOLERANCE = 1  # a slow test may reach into the app's next half minute
    page = sit_down().page
    sign_in(page, with_password(alice).username)
    recovery = set_up(page, looks_right)
    sign_in_again(page, recovery, looks_right)
    take_away(page, looks_right)


def set_up(page: Page, looks_right: Look) -> str:
    """Returns one of the recovery codes."""
    page.goto("/accounts/2fa/")
    looks_right(page)
    follow(page, "link", "Activate")
    confirm_password(page)
    looks_right(page)
    code = code_of(page.get_by_label("Authenticator secret").input_value())
    enter(page, "Authenticator code", code)
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    looks_right(page)
    first, *_ = page.get_by_label("Unused codes").input_value().split()
    page.goto("/accounts/2fa/recovery-codes/generate/")
    looks_right(page)
    return str(first)


def sign_in_again(page: Page, recovery: str, looks_right: Look) -> None:
    page.context.clear_cookies(name="sessionid")
    page.goto("/accounts/login/?next=/accounts/2fa/")
    page.get_by_label("Username").focus()
    page.keyboard.type("alice")
    enter(page, "Password", PASSWORD)
    expect(page.get_by_text("Your account is protected by two-factor authentication.")).to_be_visible()
    looks_right(page)
    enter(page, "Code", recovery)
    expect(page.get_by_text("There are 9 out of 10 recovery codes available.")).to_be_visible()


def take_away(page: Page, looks_right: Look) -> None:
    follow(page, "link", "Deactivate")
    confirm_password(page)
    looks_right(page)
    follow(page, "button", "Deactivate")
    expect(page.get_by_text("An authenticator app is not active.")).to_be_visible()


def confirm_password(page: Page) -> None:
    """Asked for once more before what guards the account is changed."""
    expect(page.get_by_role("heading", name="Confirm Access")).to_be_visible()
    enter(page, "Password", PASSWORD)


def enter(page: Page, label: str, text: str) -> None:
    page.get_by_label(label).focus()
    page.keyboard.type(text)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def code_of(secret: str) -> str:
    """What an authenticator app shows now (RFC 6238)."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.digest(base64.b32decode(secret), counter, hashlib.sha1)
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"
