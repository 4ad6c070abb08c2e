"""What a rater does before the labelling page, and what was stored of it."""

from typing import Any

from django.test import Client
from playwright.sync_api import Page, expect

from annotator.labeling.models import Answer, Assignment


def sign_in(context: Any, user: Any) -> None:
    client = Client()
    client.force_login(user)
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "domain": "localhost", "path": "/"}]
    )


def keys(page: Page, pressed: str) -> None:
    for key in pressed.split():
        page.keyboard.press(key)


def save(page: Page) -> None:
    before = page.title()
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_title(before)


def chosen(turn: Assignment) -> dict[str, str]:
    rows = Answer.objects.filter(assignment=turn, is_current=True).select_related("facet", "category")
    return {row.facet.key: row.category.name for row in rows}


def turn_at(position: int) -> Assignment:
    return Assignment.objects.get(rater__username="alice", position=position)
