"""A lead makes a bug happen again: a recipe from the form, runs in the real sandbox, the log as it grows, the verdict."""

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from annotator.accounts.models import User
from annotator.reproduction import queries, working
from annotator.reproduction.models import Run
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from tests.factories import make_bugs, make_round
from tests.factories.reproduction import here, make_series
from tests.journeys.desk import sign_in

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = "import os, time\nprint('begun', flush=True)\ntime.sleep(float(os.environ['FOR']))\nprint('loss', os.environ['LOSS'])\n"
QUICK = "FOR=0"
PATIENCE = 60_000.0  # milliseconds: an environment is made first


@pytest.fixture
def bug(live_server: Any, study: Study) -> Bug:
    return make_bugs(study, 2)[0]


@pytest.fixture
def work() -> Iterator[Callable[[], threading.Thread]]:
    """`work()` begins what waits, one run after the other, as this machine's worker does."""
    threads: list[threading.Thread] = []

    def begin() -> threading.Thread:
        thread = threading.Thread(target=carry_out)
        thread.start()
        threads.append(thread)
        return thread

    yield begin
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a run that was cancelled has to end"


def sit(person: Any, user: User) -> Page:
    person.context.set_default_timeout(PATIENCE)
    sign_in(person.context, user)
    page: Page = person.page
    return page


def carry_out() -> None:
    try:
        for key in Run.objects.filter(state="waiting").order_by("pk").values_list("pk", flat=True):
            working.perform(key, here())
    finally:
        connection.close()


def fill_in(page: Page, *, buggy: str, fixed: str) -> None:
    """Two environments that differ by a variable."""
    for place, lines in enumerate((buggy, fixed), 1):
        row = page.get_by_role("group", name=f"Environment {place}")
        row.get_by_label("Python").fill("3.11")
        row.get_by_label("Requirements").fill("")
        row.get_by_text("Image, variables, set-up commands").click()
        row.get_by_label("Variables").fill(lines)
    page.get_by_label("Standard output matches").fill("loss nan")
    page.get_by_label("Script", exact=True).fill(SCRIPT)
    page.get_by_label("Repeats").fill("1")


def test_a_lead_makes_a_bug_happen_again(sit_down, bug, lee, work, accessible, fits):
    person = sit_down()
    page = sit(person, lee)
    page.goto(f"/frameworks/bugs/{bug.number}/")
    page.get_by_role("link", name="Make it happen again").click()
    expect(page.get_by_text("To be filled in:")).to_be_visible()
    accessible(page)
    fits(page)
    page.get_by_role("button", name="Store the recipe").click()  # without an oracle
    expect(page.get_by_text("oracle: say what the bug looks like")).to_be_visible()
    person.complaints.clear()  # the browser notes that the form came back
    fill_in(page, buggy=f"{QUICK}\nLOSS=nan", fixed=f"{QUICK}\nLOSS=0.5")
    page.get_by_role("button", name="Add an environment").click()
    expect(page.get_by_role("group", name="Environment 3")).to_be_visible()
    page.get_by_role("button", name="Store the recipe").click()
    expect(page.get_by_text("It has not run yet.")).to_be_visible()
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("0 of 2 through")).to_be_visible()
    work().join(timeout=120)
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "reproduced", timeout=PATIENCE
    )  # the page came by itself
    expect(page.get_by_text("The bug shows in 1 of 1 buggy runs and in none of 1 fixed ones.")).to_be_visible()
    expect(page.locator("#log")).to_contain_text("loss nan")
    expect(page.get_by_role("region", name="What differs")).to_contain_text("loss 0.5")
    page.locator("[data-cell]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#log")).to_contain_text("fixed, seed 1")
    expect(page).to_have_url(re.compile(r"\?run=[0-9a-f]{64}$"))
    page.reload()
    expect(page.locator("#log")).to_contain_text("fixed, seed 1")
    accessible(page)
    fits(page)
    page.get_by_role("link", name="Whole log").click()
    expect(page.get_by_role("heading", name="What went in")).to_be_visible()
    page.wait_for_load_state()  # with the keys
    page.keyboard.press("/")
    page.keyboard.type("LOSS")
    expect(page.locator("mark")).to_have_text("loss")
    accessible(page)
    page.goto("/frameworks/reproduction/?verdict=reproduced")
    expect(page.get_by_role("rowheader", name=bug.item.title)).to_be_visible()
    accessible(page)
    fits(page)


def test_the_log_is_followed_while_it_grows_and_a_cancelled_run_ends_at_once(sit_down, bug, lee, work):
    series = make_series(bug, lee, script=SCRIPT, repeats=1, buggy={"variables": {"FOR": "600", "LOSS": "nan"}},
                         fixed={"variables": {"FOR": "0", "LOSS": "1"}}, limits={"seconds": 900})  # fmt: skip
    page = sit(sit_down(), lee)
    page.goto("/frameworks/reproduction/1/")
    expect(page.locator("#log")).to_contain_text("Waiting for a runner.")
    worker = work()
    expect(page.locator("#log pre")).to_contain_text("begun", timeout=PATIENCE)
    expect(page.locator("#log")).to_contain_text("running")
    page.get_by_role("button", name="Cancel the runs").click()
    expect(page.get_by_text("2 runs cancelled.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cancelled", timeout=PATIENCE)
    worker.join(timeout=60)
    assert not worker.is_alive()
    assert {run.state for run in series.runs.all()} == {"cancelled"}


def test_a_rater_of_an_open_round_reads_not_yet(sit_down, bug, alice, bob, lee):
    make_series(bug, lee, repeats=1)
    make_round(bug.study, bugs=[bug], raters=[alice, bob], by=lee)
    page = sit(sit_down(), alice)
    page.goto(f"/frameworks/bugs/{bug.number}/")
    expect(page.get_by_text(queries.NOT_YET)).to_be_visible()
    page.goto("/frameworks/reproduction/")
    expect(page.get_by_text("No recipe is shown.")).to_be_visible()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto("/frameworks/rounds/1/label/")
    expect(page.locator("#answer")).to_be_visible()
    assert not any("reproduction" in url for url in requests)


def test_where_reproduction_comes_first_the_rater_opens_it_beside_the_bug(sit_down, bug, alice, bob, lee, accessible):
    Study.objects.filter(pk=bug.study_id).update(protocol={"reproduction_first": True})
    make_series(bug, lee, repeats=1)
    make_round(bug.study, bugs=[bug], raters=[alice, bob], by=lee)
    page = sit(sit_down(), alice)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto("/frameworks/rounds/1/label/")
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12
    page.locator("summary", has_text="Reproduction").click()
    expect(page.get_by_text("Runs in buggy, fixed are not through.")).to_be_visible()
    accessible(page)


def test_a_host_is_added_and_its_key_shown_once(sit_down, bug, lee, accessible, fits):
    page = sit(sit_down(), lee)
    page.goto("/frameworks/reproduction/hosts/")
    page.get_by_label("Name").fill("gpu-2")
    page.get_by_role("button", name="Add the host").click()
    expect(page.get_by_label("Key of the host")).to_have_value(re.compile(r"\S{20,}"))
    expect(page.get_by_text("manage.py run_host http://")).to_be_visible()
    accessible(page)
    fits(page)


def test_without_script_a_recipe_is_written_row_by_row(sit_down, bug, lee):
    page = sit(sit_down(scripts=False), lee)
    page.goto(f"/frameworks/reproduction/new/?bug={bug.number}")
    page.get_by_role("button", name="Add an environment").click()
    expect(page.get_by_role("group", name="Environment 3")).to_be_visible()
    fill_in(page, buggy="LOSS=nan", fixed="LOSS=1")
    page.get_by_role("button", name="Store the recipe").click()
    expect(page.get_by_text("It has not run yet.")).to_be_visible()
