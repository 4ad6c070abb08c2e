"""Free wording becomes categories by keyboard, by drag, and without script."""

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotator.codebook.actions import create_codebook
from annotator.codebook.models import Category, Facet, Memo
from annotator.codebook.reading import to_document
from annotator.overview.rounds.closing import close_round
from tests.factories import StudyFactory, answer, make_bugs, make_round, member

PAIRS = [
    ("crash", "Crash: segfault"),
    ("crash：TypeError", "crash: TypeError"),
    ("crash", "crash: segfalt"),
    ("build failure", "Build failure\u3000"),
    ("wrong code", "wrong code: running state"),
    ("hang", "unreported"),
]


@pytest.fixture
def coded(live_server: Any, alice: Any, bob: Any, lee: Any) -> Facet:
    """A closed round in which two raters used words of their own."""
    study = StudyFactory(slug="words")
    member(study, lee, "lead")
    member(study, alice, "rater")
    member(study, bob, "rater")
    codes = sorted({" ".join(word.split()) for pair in PAIRS for word in pair})
    facet = {"id": "symptom", "takes_codes": True, "categories": [{"name": name, "code": True} for name in codes]}
    codebook = create_codebook(study=study, document=to_document({"title": "Words", "facets": [facet]}), by=lee)
    bugs = make_bugs(study, len(PAIRS))
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug, pair in zip(bugs, PAIRS, strict=True):
        for rater, word in zip((alice, bob), pair, strict=True):
            answer(round_, bug, rater, {"symptom": " ".join(word.split())}, note="As it stands.")
    close_round(round_=round_, by=lee)
    return codebook.facets.get(key="symptom")


def sign_in(context: Any, user: Any) -> None:
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "domain": "localhost", "path": "/"}])


@pytest.fixture
def board(sit_down: Any, coded: Facet, lee: Any) -> Any:
    def open_board(**window: Any) -> Page:
        person = sit_down(**window)
        sign_in(person.context, lee)
        person.page.goto("/words/codebook/facets/symptom/coding/")
        return person.page

    return open_board


def at(page: Page) -> str:
    return str(page.evaluate("document.activeElement.closest('li')?.querySelector('label')?.textContent ?? ''"))


def press(page: Page, key: str, says: str) -> None:
    page.keyboard.press(key)
    expect(page.locator(".bar")).to_contain_text(says)


def names_in(facet: Facet, name: str) -> set[str]:
    return set(facet.categories.filter(parent__name=name).values_list("name", flat=True))


def test_codes_are_placed_by_keyboard_alone(board: Any, coded: Facet, accessible: Any, fits: Any) -> None:
    page = board()
    accessible(page)
    fits(page)
    page.keyboard.press("ArrowDown")
    assert at(page) == "crash"
    press(page, "n", "crash made a category")
    page.keyboard.press("/")
    page.keyboard.type("crash")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")  # a browser's own keys are left alone
    for _ in range(page.locator("[data-codes] > li:visible").count()):
        page.keyboard.press("x")
    press(page, "1", "codes placed in crash")
    assert len(names_in(coded, "crash")) == 4
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    here = at(page)
    expect(page.locator("#about")).to_contain_text(here)
    expect(page.locator("#about")).to_contain_text("As it stands.")
    page.fill("#memo", "Seen twice.")
    page.get_by_role("button", name="Keep the memo").click()
    expect(page.locator("#about li", has_text="Seen twice.")).to_be_visible()
    assert Memo.objects.get().category.name == here
    page.locator("[data-code]").first.focus()
    press(page, "n", "made a category")
    press(page, "2", "placed in")
    press(page, "z", "made a category")
    page.keyboard.press("p")
    page.keyboard.type("crash")
    page.keyboard.press("Enter")
    expect(page.locator(".bar")).to_contain_text("placed in crash")
    accessible(page)
    assert coded.categories.exclude(parent=None).count() == 5


def test_a_code_is_dragged_into_a_category_and_out_again(board: Any, coded: Facet) -> None:
    page = board()
    page.get_by_role("button", name="Make a category of hang", exact=True).click()
    expect(page.locator(".grp")).to_have_count(1)
    page.locator("[data-row]", has_text="unreported").drag_to(page.locator(".grp"))
    expect(page.locator(".bar")).to_contain_text("unreported placed in hang")
    page.locator(".grp summary").click()
    page.locator("[data-placed]").drag_to(page.locator("[data-codes]"))
    expect(page.locator(".bar")).to_contain_text("unreported taken out")
    assert not coded.categories.exclude(parent=None).exists()


def test_it_works_on_a_phone_without_script(board: Any, coded: Facet) -> None:
    page = board(size={"width": 390, "height": 844}, scripts=False)
    page.get_by_role("button", name="Make a category of hang", exact=True).click()
    page.get_by_label("unreported", exact=True).check()
    page.select_option("#to", label="hang")
    page.get_by_role("button", name="Put there", exact=True).click()
    expect(page.get_by_text("unreported placed in hang.")).to_be_visible()
    assert Category.objects.get(name="unreported").parent.name == "hang"
