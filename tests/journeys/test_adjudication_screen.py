"""What fits on the screens on which disputes are settled, in the demo study."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotator.accounts.models import User
from annotator.adjudication.meetings import start_meeting
from annotator.adjudication.models import Dispute
from annotator.labeling.models import Evidence
from annotator.overview.demo import people, story
from annotator.studies.models import Study
from tests.journeys.acts import sign_in
from tests.journeys.conftest import DESKTOP

WIDE = {"width": 1920, "height": 1080}
ROOM_FOR_TEXT = """select => {
    const style = getComputedStyle(select), pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const text = pen.measureText(select.selectedOptions[0].text).width;
    return select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16 - text;
}"""


@pytest.fixture
def pin(live_server: Any) -> Evidence:
    """A line that a rater pinned in the first file of a bug in dispute."""
    assert story.load()
    waiting = Dispute.objects.filter(is_open=True).values("bug")
    rows = Evidence.objects.filter(is_current=True, anchor__startswith="f1n", assignment__bug__in=waiting)
    found = rows.select_related("assignment__bug").order_by("assignment__bug__number", "anchor").first()
    assert found
    return found


def test_the_diff_and_its_pins_begin_above_the_fold(sit_down, pin, accessible, fits):
    page: Page = sit_down().page
    sign_in(page, "maple", password=people.PASSWORD)
    page.goto(f"/{people.SLUG}/adjudication/bugs/{pin.assignment.bug.number}/")
    expect(page.locator(f"#{pin.anchor} .tile").first).to_contain_text("pinned this")
    tops = {at: page.locator(at).first.bounding_box()["y"] for at in ("#bug-title", "#decide", ".diff tr[id]", "#desc")}
    assert sorted(tops, key=tops.get) == list(tops)
    assert tops[".diff tr[id]"] < DESKTOP["height"] - 100
    for name in ("Repository", "Facet", "Round", "State"):
        assert page.get_by_label(name, exact=True).evaluate(ROOM_FOR_TEXT) > 0
    accessible(page)
    fits(page)


def test_a_meeting_takes_the_width_of_a_large_screen(sit_down, pin, accessible, fits):
    cast = {user.username: user for user in User.objects.all()}
    study = Study.objects.get(slug=people.SLUG)
    start_meeting(study=study, participants=[cast["alder"], cast["birch"]], by=cast["cedar"])
    page: Page = sit_down(size=WIDE).page
    sign_in(page, "cedar", password=people.PASSWORD)
    page.goto(f"/{people.SLUG}/adjudication/meeting/?bug={pin.assignment.bug.number}")
    assert page.locator("#decide").bounding_box()["width"] > WIDE["width"] - 100
    assert page.locator(".ans").first.evaluate("el => parseFloat(getComputedStyle(el).fontSize)") >= 28
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator("#counter")).not_to_contain_text("0 of")
    accessible(page)
    fits(page)
