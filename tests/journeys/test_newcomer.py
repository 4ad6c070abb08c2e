"""A newcomer's first hour: from an empty page and a spreadsheet to the first kappa."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotator.agreement.models import Snapshot
from annotator.intake.models import Import
from annotator.intake.running import left_waiting
from annotator.intake.tasks import run
from annotator.sampling.models import Bug
from tests.journeys.acts import PASSWORD, choose, follow, number_of, save, sign_in, with_password

HEAD = ["Component", "Change", "What", "Log", "Seen by"]
SLIP = "1O7"  # a letter for a digit, as sheets have it
FIRST_SEVEN = range(1, 8)
DIFFERS = {6, 12}
# Root cause: six and six for both, ten of twelve alike: (10 ÷ 12 − 1 ÷ 2) ÷ (1 − 1 ÷ 2).
KAPPA = 2 / 3


def rows(*, seventh: str) -> Iterator[list[str]]:
    """Twelve bugs; the seventh's number is given."""
    for n in range(1, 13):
        number = seventh if n == 7 else str(100 + n)
        yield ["tessera/compiler", number, f"Fix lowering of operator {n}", f"https://logs.example/{n}", "ci"]


def sheet(path: Path, *, seventh: str) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows(seventh=seventh)])
    return path


def labels(n: int, *, is_bob: bool) -> dict[str, str]:
    """What a rater makes of the nth bug."""
    is_shape = (n <= 6) != (is_bob and n in DIFFERS)
    return {
        "Root cause": "Tensor Shape Problem" if is_shape else "API Misuse",
        "Symptom": "Crash" if n % 2 else "Wrong Code",
        "Stage": "Model Loading" if n <= 4 else "High-Level IR Transformation",
        "Front framework": "ONNX" if n <= 4 else "not applicable",
    }


def test_newcomer_comes_from_a_sheet_to_the_first_kappa(sit_down, live_server, lee, tmp_path):
    lead = sit_down().page
    sign_in(lead, with_password(lee).username)
    start_study(lead)
    bring_sheet(lead, tmp_path)
    raters = [join(sit_down().page, name, invite(lead, name)) for name in ("alice", "bob")]
    open_round(lead)
    for page, is_bob in zip(raters, (False, True), strict=True):
        label(page, is_bob=is_bob)
    close(lead)
    assert_kappa(lead)


def start_study(page: Page) -> None:
    expect(page.get_by_text("No study yet.")).to_be_visible()
    follow(page, "link", "Start a study")
    page.get_by_label("Title").focus()
    page.keyboard.type("Bugs in compilers")
    page.get_by_label("Deep learning compiler bugs").focus()
    page.keyboard.press("Space")
    follow(page, "button", "Start the study")
    expect(page.get_by_role("heading", name="Bugs in compilers")).to_be_visible()


# --- the sheet


def bring_sheet(page: Page, folder: Path) -> None:
    follow(page, "link", "Import a sheet")
    upload(page, sheet(folder / "bugs.csv", seventh=SLIP))
    map_columns(page)
    assert_slip(page)
    mapping = drop(page, folder)
    upload(page, sheet(folder / "mended.csv", seventh="107"))
    page.get_by_label("Mapping file", exact=True).set_input_files(mapping)
    follow(page, "button", "Read the columns so")
    expect(page.get_by_text("Nothing stands in the way.")).to_be_visible()
    assert not Bug.objects.exists()
    follow(page, "button", "Import")
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()
    work()
    expect(page.get_by_text("It is in.")).to_be_visible()
    assert Bug.objects.count() == 12


def upload(page: Page, path: Path) -> None:
    page.get_by_label("Sheet", exact=True).set_input_files(path)
    follow(page, "button", "Upload and choose columns")


def map_columns(page: Page) -> None:
    for place, meaning in enumerate(["Its repo", "Number of the", "Title", "Context", "leave"]):
        page.get_by_label(f"What the column {HEAD[place]} holds").focus()
        page.keyboard.type(meaning)
    page.get_by_label("An item is").focus()
    page.keyboard.type("a pull")
    expect(page.locator("#preview")).to_contain_text("tessera/compiler#101 Fix lowering of operator 1")
    expect(page.locator("#preview")).to_contain_text(f"“{SLIP}” is no number")
    follow(page, "button", "Check the whole sheet")


def assert_slip(page: Page) -> None:
    expect(page.get_by_text("1 error.")).to_be_visible()
    problem = page.get_by_role("region", name="Problems").get_by_role("row").nth(1)
    expect(problem.get_by_role("cell").nth(1)).to_have_text("8")
    expect(problem).to_contain_text(f"“{SLIP}” is no number")
    expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)


def drop(page: Page, folder: Path) -> Path:
    """Keep the choice of columns, drop the sheet that has the slip."""
    with page.expect_download() as started:
        page.get_by_role("link", name="Mapping as YAML").press("Enter")
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    follow(page, "button", "Drop this upload")
    assert not Import.objects.exists()
    return path


def work() -> None:
    """What a worker does when the sweep finds the row: no broker runs here, and the row is the truth."""
    [waiting] = left_waiting()
    assert run(waiting)


# --- people


def invite(lead: Page, name: str) -> str:
    lead.goto("/bugs-in-compilers/")
    follow(lead, "link", "Invite two raters")
    lead.get_by_label("For whom is it?").focus()
    lead.keyboard.type(name)
    lead.keyboard.press("Enter")
    return lead.get_by_label("Link", exact=True).input_value()


def join(page: Page, username: str, link: str) -> Page:
    page.goto(link)
    page.get_by_label("User name").focus()
    page.keyboard.type(username)
    for label in ("New password", "Once more"):
        page.get_by_label(label).focus()
        page.keyboard.type(PASSWORD)
    follow(page, "button", "Make my account and join")
    expect(page.get_by_text("Welcome to “Bugs in compilers”.")).to_be_visible()
    assert page.request.get(link).status == 404  # it works once
    return page


# --- the round


def open_round(page: Page) -> None:
    page.goto("/bugs-in-compilers/")
    follow(page, "link", "Open the first round")
    follow(page, "button", "Open the round")
    expect(page.get_by_text("Round 1 is open with 12 bugs.")).to_be_visible()


def label(page: Page, *, is_bob: bool) -> None:
    page.goto("/bugs-in-compilers/")
    follow(page, "link", "12 bugs of Round 1 wait for your answer")
    for _ in range(12):
        for facet, category in labels(number_of(page), is_bob=is_bob).items():
            choose(page, facet, category)
        save(page)
    expect(page.get_by_text("Nothing waits for you in this round now.")).to_be_visible()


def close(page: Page) -> None:
    page.goto("/bugs-in-compilers/")
    follow(page, "link", "Everybody is done with Round 1")
    follow(page, "button", "Close Round 1 for good")


def assert_kappa(page: Page) -> None:
    table = page.get_by_role("region", name="Coefficients of Round 1")
    expect(table.get_by_role("row").filter(has_text="Root cause")).to_contain_text(".67")
    expect(page.locator("#gate")).to_contain_text("Gate of Round 1: not passed.")
    entries = {entry["facet"]: entry["kappa"] for entry in Snapshot.objects.get().entries}
    assert entries == pytest.approx({"root_cause": KAPPA, "symptom": 1, "stage": 1, "front_framework": 1})
