"""Raters at work: each on a connection of their own, saving and taking the next bug in one request."""

import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from statistics import median, quantiles
from urllib.parse import urlencode

from bench.server import Site

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
ACTION = re.compile(r'action="([^"]+/bugs/\d+/)"')
OPTION = re.compile(r'<input type="(?:radio|checkbox)" id="[^"]*" name="(f-[^"]+)" value="([^"]+)"')


@dataclass
class Rater:
    """One person's browser, as the server sees it."""

    port: int
    session: str
    round: str
    seed: int = 0
    token: str = ""
    csrf: str = ""
    at: str = ""  # address of the bug on the screen
    options: dict[str, list[str]] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.chance = random.Random(self.seed)

    def headers(self) -> dict[str, str]:
        return {"Cookie": f"sessionid={self.session}; csrftoken={self.csrf}", "HX-Request": "true"}

    def ask(self, method: str, path: str, body: str | None = None, **more: str) -> tuple[HTTPResponse, str]:
        form = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        self.connection.request(method, path, body, self.headers() | form | more)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return answer, text

    def open_page(self) -> None:
        """The first bug, fetched whole."""
        path = self.round + "label/"
        self.connection.request("GET", path, headers={"Cookie": f"sessionid={self.session}"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        found = TOKEN.search(text)
        if answer.status != 200 or not found:
            raise RuntimeError(f"GET {path}: {answer.status} {text[:300]}")
        self.token = found.group(1)
        self.csrf = (answer.getheader("Set-Cookie") or "").partition("csrftoken=")[2].partition(";")[0]
        self.at = ACTION.search(text).group(1)  # type: ignore[union-attr]  # a page of a bug has its form
        for facet, uid in OPTION.findall(text):
            self.options.setdefault(facet, []).append(uid)

    def save_and_next(self) -> None:
        """Press save once; the answer is the next bug."""
        chosen = {name: self.chance.choice(uids) for name, uids in self.options.items()}
        form = {
            "act": "submit",
            "revision": "0",
            "confidence": "sure",
            "active_seconds": "20",
            "note": "seen in the diff",
        }
        started = time.perf_counter()
        answer, _ = self.ask("POST", self.at, urlencode(form | chosen), **{"X-CSRFToken": self.token})
        self.times.append(time.perf_counter() - started)
        after = answer.getheader("HX-Push-Url") or ""
        if after == self.at:
            raise RuntimeError(f"no next bug after {self.at}")
        self.at = after

    @property
    def has_bug(self) -> bool:
        return "/bugs/" in self.at

    def work(self, *, until: float) -> None:
        while time.perf_counter() < until and self.has_bug:
            self.save_and_next()


@dataclass(frozen=True)
class Measured:
    p50_ms: float
    p95_ms: float
    per_second: float
    n: int


def at_work(site: Site, number: int) -> Rater:
    return Rater(site.port, site.study["raters"][number], site.study["round"], seed=number)


def one_connection(site: Site, *, rater: int = 0, saves: int = 300, warm: int = 30) -> Measured:
    person = at_work(site, rater)
    person.open_page()
    for _ in range(warm):
        person.save_and_next()
    person.times.clear()
    started = time.perf_counter()
    for _ in range(saves):
        person.save_and_next()
    return measured(person.times, time.perf_counter() - started)


def together(site: Site, *, raters: int, seconds: float = 8) -> Measured:
    """Distinct raters at the same time, as fast as the server lets them."""
    people = [at_work(site, rater) for rater in range(raters)]
    for person in people:
        person.open_page()
    started = time.perf_counter()
    with ThreadPoolExecutor(raters) as pool:
        for done in [pool.submit(person.work, until=started + seconds) for person in people]:
            done.result()
    return measured([each for person in people for each in person.times], time.perf_counter() - started)


def empty_view(site: Site, *, times: int = 300) -> Measured:
    """The floor: a signed-in page that does nothing, behind the same middleware."""
    person = at_work(site, 0)
    taken = []
    started = time.perf_counter()
    for _ in range(times):
        begun = time.perf_counter()
        person.ask("GET", "/bench/empty/")
        taken.append(time.perf_counter() - begun)
    return measured(taken, time.perf_counter() - started)


def measured(times: list[float], seconds: float) -> Measured:
    return Measured(median(times) * 1000, quantiles(times, n=20)[18] * 1000, len(times) / seconds, len(times))
