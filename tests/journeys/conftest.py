"""Journeys: a person at a real browser, in front of the whole application."""

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from annotator.codebook.actions import create_codebook
from annotator.codebook.presets import MAIN, preset
from annotator.collection.models import ChangedFile, Comment, Item, ItemText, Patch
from annotator.labeling.models import Round
from tests.factories import StudyFactory, make_bugs, make_round, member
from tests.journeys.desk import sign_in
from tests.services import browser as chromium

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = {"width": 1366, "height": 768}
PHONE = {"width": 390, "height": 844}
PATCH = "@@ -1,3 +1,3 @@\n import half\n-total = half.zeros(4)\n+total = full.zeros(4)\n print(total)"
EXPECTED = ("net::ERR_", "htmx:", "409", "403", "422")  # what the browser notes where journeys are about failures


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All journeys run in one worker: two browsers would starve each other on two cores."""
    for item in items:
        if ROOT / "tests" / "journeys" in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("journeys"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = chromium.program()
    assert program, "the journeys need Chromium: make test installs it where it may"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=chromium.ARGUMENTS)
        yield started
        started.close()


@dataclass
class Person:
    """Somebody at a browser of their own: own cookies, own window."""

    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)


@pytest.fixture
def sit_down(browser: Browser, live_server: Any) -> Iterator[Callable[..., Person]]:
    """`sit_down()` opens a window on the running application; a script error in any window fails the test."""
    people: list[Person] = []

    def open_window(*, size: dict[str, int] = DESKTOP, scheme: str = "light", scripts: bool = True) -> Person:
        context = browser.new_context(
            base_url=live_server.url,
            viewport=size,
            color_scheme=scheme,
            java_script_enabled=scripts,
            accept_downloads=True,
        )
        context.set_default_timeout(10_000)
        person = Person(context, context.new_page())
        person.listen()
        people.append(person)
        return person

    yield open_window
    for person in people:
        person.context.close()
    assert [said for person in people for said in person.complaints] == []


OF_COLOUR = ["color-contrast", "link-in-text-block"]  # the rules whose outcome dark colours can change


@pytest.fixture
def accessible() -> Callable[[Page], None]:
    """`accessible(page)` fails with what axe finds, in light and in dark."""

    def check(page: Page) -> None:
        page.evaluate(AXE_SCRIPT)
        for scheme, rules in (("light", None), ("dark", OF_COLOUR)):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
            found = page.evaluate("async (options) => (await axe.run(document, options)).violations", options)
            told = [f"{scheme} {one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found]
            assert told == [], f"{page.url}: {told}"

    return check


@pytest.fixture
def fits() -> Callable[[Page], None]:
    """`fits(page)` fails when a phone would scroll sideways."""

    def check(page: Page) -> None:
        before = page.viewport_size
        page.set_viewport_size(PHONE)
        width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size(before)
        assert width <= PHONE["width"], f"{page.url} is {width} px wide on a phone of {PHONE['width']} px"

    return check


@pytest.fixture
def rating(live_server: Any, alice: Any, bob: Any, lee: Any) -> Round:
    """Twenty bugs of the main study's taxonomy; every second one with a copy."""
    study = StudyFactory(slug="frameworks")
    member(study, lee, "lead")
    member(study, alice, "rater")
    member(study, bob, "rater")
    create_codebook(study=study, document=preset(MAIN), by=lee)
    bugs = make_bugs(study, 20)
    for bug in bugs[::2]:
        with_copy(bug.item)
    return make_round(study, bugs=bugs, raters=[alice, bob], by=lee, name="Round 1")


def with_copy(item: Item) -> None:
    Item.objects.filter(pk=item.pk).update(fetched_at="2026-03-01T00:00:00Z", state="closed")
    ItemText.objects.create(item=item, body="The sum was kept in `float16`.")
    Comment.objects.create(item=item, position=0, author="quill-7", body="Same shapes.")
    file = ChangedFile.objects.create(item=item, position=0, path="core/sum.py", additions=1, deletions=1)
    Patch.objects.create(file=file, text=PATCH)


@pytest.fixture
def at_desk(sit_down: Callable[..., Any], rating: Round, alice: Any) -> Iterator[Callable[..., Page]]:
    """Alice, signed in, before her next bug."""

    def open_page(**window: Any) -> Page:
        person = sit_down(**window)
        people.append(person)
        sign_in(person.context, alice)
        person.page.goto("/frameworks/rounds/1/label/")
        return person.page

    people: list[Any] = []
    yield open_page
    for person in people:  # a lost connection is what some of these are about
        person.complaints[:] = [said for said in person.complaints if not any(word in said for word in EXPECTED)]


@dataclass
class Running:
    """The application as `make run` starts it."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    def family(self) -> list[int]:
        """The process ids of make and all below it: the supervisor comes first."""
        return family(self.process.pid)

    def said(self) -> list[str]:
        """What it printed, without what make adds."""
        return [line for line in self.log.read_text().splitlines() if not line.startswith("make: ")]

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def answers(self, path: str) -> int:
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:
            return int(answer.status)

    def wait_until_served(self, seconds: float = 120) -> None:
        """Until it says where it is: then every process is there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            if f"Concord is at {self.url}/" in self.log.read_text():
                return
            time.sleep(0.05)
        raise AssertionError(f"not served: {self.log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def start_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Running]]:
    """`start_run(var)` starts the application on a data folder; whatever still runs at the module's end is ended."""
    started: list[Running] = []

    def start(var: Path, *, port: int | None = None) -> Running:
        running = launch(var, port=port or free_port(), log=tmp_path_factory.mktemp("run") / "log")
        started.append(running)
        return running

    yield start
    for running in started:
        running.end()


def launch(var: Path, *, port: int, log: Path) -> Running:
    ours = ("DATABASE_", "REDIS_", "CONCORD_", "MAKE", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    with log.open("w") as output:
        process = subprocess.Popen(
            ["make", "-o", "setup", "run", f"PORT={port}"],  # the environment is there: the tests run in it
            cwd=ROOT,
            env=environment | {"CONCORD_VAR": str(var)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
    return Running(process, f"http://127.0.0.1:{port}", log)


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


def parents() -> dict[int, int]:
    """Each living process's parent."""
    table = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if after_name[0] != "Z":
            table[int(folder.name)] = int(after_name[1])
    return table


def family(root: int) -> list[int]:
    table = parents()
    found = [root]
    for pid in found:
        found += [child for child, parent in table.items() if parent == pid]
    return found
