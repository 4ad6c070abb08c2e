"""From two raters' labels to an agreed data set: what is settled afterwards never moves the blind figures."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.db.models import TextField
from django.db.models.functions import Cast
from playwright.sync_api import Page, expect

from annotator.adjudication.models import Resolution
from annotator.agreement.models import Snapshot
from annotator.codebook.actions import create_codebook
from annotator.codebook.presets import MAIN, preset
from annotator.labeling.models import Round
from annotator.sampling.models import Bug
from tests.factories import StudyFactory, make_bugs, make_round, member
from tests.journeys.acts import follow, label_all, sign_in, with_password

# By bug: keys of root cause, symptom, stage, level. The two differ on the symptom of 2 and the root cause of 5.
ALICE = {
    1: "r 2 s 1 t 1 l 1",
    2: "r 2 s 1 t 1 l 1",
    3: "r 3 s 2 t 3 l 2",
    4: "r 3 s 2 t 3 l 2",
    5: "r A s 4 t 3 l 2",
    6: "r A s 4 t 3 l 1",
}
BOB = ALICE | {2: "r 2 s 2 t 1 l 1", 5: "r 3 s 4 t 3 l 2"}
# Both facets: observed 5 of 6; by chance (2 × 2 + 2 × 3 + 2 × 1) ÷ 36 = 1 ÷ 3; kappa (5 ÷ 6 − 1 ÷ 3) ÷ (2 ÷ 3).
KAPPA = 0.75
# Columns of the files and names in the REST interface.
SAME = ("bug", "facet", "slot", "category", "category_uid", "note", "round")
ANSWER = (*SAME, "rater", "round_number", "revision", "confidence", "answered_at")
FINAL = (*SAME, "source", "decided_by", "participants", "recorded_by", "reason", "decided_at")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]+"')


@pytest.fixture
def rated(live_server: Any, alice: Any, bob: Any, ada: Any, lee: Any) -> Round:
    """Six bugs, Alice and Bob on each, a gate at .80; nobody has answered."""
    study = StudyFactory(slug="frameworks")
    for user, role in ((lee, "lead"), (alice, "rater"), (bob, "rater"), (ada, "adjudicator")):
        member(study, with_password(user), role)
    create_codebook(study=study, document=preset(MAIN), by=lee)
    gate = {"gate_coefficient": "kappa", "gate_method": "value", "gate_bound": 0.8, "gate_min_n": 6}
    return make_round(study, bugs=make_bugs(study, 6), raters=[alice, bob], by=lee, name="Round 1", **gate)


def test_from_two_raters_labels_to_data_that_the_interface_confirms(sit_down, rated, live_server, tmp_path):
    alice, bob, ada, lee = (at_desk(sit_down, name) for name in ("alice", "bob", "ada", "lee"))
    label(alice, ALICE)
    label(bob, BOB)
    close(lee)
    assert_figures(lee)
    before = figures(lee), stored_bytes()

    concede(alice, bob, bug=2)
    adjudicate(ada, bug=5)
    assert labels_of(2, "symptom") == [("Incorrect Functionality", "discussed", "")]
    assert labels_of(5, "root_cause") == [("Numerical Issue", "adjudicated", "ambiguous")]
    assert (figures(lee), stored_bytes()) == before

    key = make_key(lee)
    answers = download(lee, "answers: CSV", tmp_path)
    assert len(answers) == 6 * 4 * 2
    assert texts(answers, ANSWER) == texts(told(live_server, "answers", key), ANSWER)
    finals = download(lee, "finals: CSV", tmp_path)
    assert len(finals) == 6 * 4
    assert texts(finals, FINAL) == texts(told(live_server, "finals", key), FINAL)


def at_desk(sit_down: Callable[..., Any], username: str) -> Page:
    page: Page = sit_down().page
    sign_in(page, username)
    follow(page, "link", "Bugs in frameworks")
    return page


def label(page: Page, answers: dict[int, str]) -> None:
    follow(page, "link", "6 bugs of Round 1 wait for your answer")
    label_all(page, answers)
    expect(page.get_by_text("Nothing waits for you in this round now.")).to_be_visible()


def close(page: Page) -> None:
    page.reload()
    follow(page, "link", "Everybody is done with Round 1")
    expect(page.get_by_text("Every rater answered every bug.")).to_be_visible()
    follow(page, "button", "Close Round 1 for good")
    expect(page.get_by_text("Round 1 is closed. Its agreement is counted and stands.")).to_be_visible()


def assert_figures(page: Page) -> None:
    gate = page.locator("#gate")
    expect(gate).to_contain_text("Gate of Round 1: not passed.")
    expect(gate).to_contain_text("Root cause: κ .75 < .80")
    expect(gate).to_contain_text("Symptom: κ .75 < .80")
    expect(gate.get_by_role("listitem")).to_have_count(2)
    rows = page.get_by_role("region", name="Coefficients of Round 1").get_by_role("row")
    expect(rows.filter(has_text="Root cause")).to_contain_text(".75")
    entries = {entry["facet"]: entry for entry in Snapshot.objects.get().entries}
    assert {facet: entry["kappa"] for facet, entry in entries.items()} == pytest.approx(
        {"root_cause": KAPPA, "symptom": KAPPA, "stage": 1, "level": 1}
    )


def figures(page: Page) -> str:
    """The whole of the agreement page below its head, but for the token of its form."""
    page.goto("/frameworks/agreement/1/")
    return TOKEN.sub("", page.locator("#main").inner_html())


def stored_bytes() -> list[tuple[str, str]]:
    raw = Snapshot.objects.annotate(raw=Cast("entries", TextField())).order_by("pk")
    return list(raw.values_list("raw", "digest"))


def concede(alice: Page, bob: Page, *, bug: int) -> None:
    """Alice takes Bob's label for hers; Bob confirms his."""
    decide(alice, bug=bug, option="Accept: Incorrect Functionality")
    expect(alice.get_by_text("your move is kept.")).to_be_visible()
    assert labels_of(bug, "symptom") == []
    decide(bob, bug=bug, option="Keep mine: Incorrect Functionality")
    expect(bob.get_by_text("all confirmed, settled.")).to_be_visible()


def decide(page: Page, *, bug: int, option: str) -> None:
    page.goto("/frameworks/")
    follow(page, "link", "You and another rater differ 2 times")
    walk_to(page, bug)
    page.keyboard.press(key_of(page, option))
    expect(page.get_by_label(option)).to_be_checked()
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")


def walk_to(page: Page, number: int) -> None:
    """Along the queue, by the arrow keys."""
    wanted = Bug.objects.get(number=number).item.title
    if page.locator("#bug-title").inner_text() != wanted:
        with page.expect_navigation():
            page.keyboard.press("ArrowDown")
    expect(page.locator("#bug-title")).to_have_text(wanted)


def key_of(page: Page, option: str) -> str:
    """The key that the page shows beside a choice."""
    return page.locator("label.pick").filter(has_text=option).locator("kbd").inner_text()


def adjudicate(page: Page, *, bug: int) -> None:
    page.reload()
    follow(page, "link", "1 dispute waits for your decision")
    walk_to(page, bug)
    page.keyboard.press(key_of(page, "Numerical Issue"))
    page.keyboard.press("Tab")
    expect(page.get_by_label("Reason of the disagreement")).to_be_focused()
    page.keyboard.type("Source a")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("All is settled.")).to_be_visible()


def labels_of(number: int, facet: str) -> list[tuple[str, str, str]]:
    rows = Resolution.objects.current().filter(bug__number=number, facet__key=facet)
    return list(rows.values_list("category__name", "source", "reason"))


def download(page: Page, name: str, folder: Path) -> list[dict[str, str]]:
    page.goto("/frameworks/")
    page.get_by_role("link", name="Publication").first.press("Enter")
    with page.expect_download() as started:
        page.get_by_role("link", name=name, exact=True).press("Enter")
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def make_key(page: Page) -> str:
    """A key for programs that may read, made on the account's page."""
    page.goto("/account/tokens/")
    page.get_by_label("What is it for?").focus()
    page.keyboard.type("notebook")
    page.keyboard.press("Enter")
    return page.get_by_label("Key", exact=True).input_value()


def told(live_server: Any, table: str, key: str) -> list[dict[str, Any]]:
    """All rows of a list of the REST interface, page by page."""
    rows: list[dict[str, Any]] = []
    address = f"{live_server.url}/api/v1/studies/frameworks/{table}/?page_size=7"
    while address:
        asked = Request(address, headers={"Authorization": f"Token {key}"})
        with urlopen(asked, timeout=10) as answer:
            page = json.load(answer)
        rows += page["results"]
        address = page["next"]
    return rows


def texts(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> list[list[str]]:
    """These columns as text, in an order that both sides can have."""
    names = list(columns)
    return sorted([text(row[name]) for name in names] for row in rows)


def text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else str(value)
