"""One machine as a newcomer has it: a clone, `make run`, its demo study, its memory."""

import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench import load
from bench.server import ROOT, free_port, wait_until_served

PASSWORD = "concord-demo"
RATERS = ("alder", "birch")
LEAD = "cedar"
ROUND = re.compile(r"/demo/rounds/\d+/label/")


@dataclass(frozen=True)
class Machine:
    process: "subprocess.Popen[bytes]"
    port: int
    seconds: float  # from clone to served page


@contextmanager
def newcomer(folder: Path) -> Iterator[Machine]:
    """Clone what is committed, `make run`, wait for the first page."""
    port = free_port()
    ours = ("DATABASE_", "REDIS_", "CONCORD_", "DJANGO_", "MAKE", "PYTHON", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    started = time.perf_counter()
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, folder], check=True)
    with (folder.parent / "run.log").open("w") as log:
        process = subprocess.Popen(
            ["make", "run", f"PORT={port}"], cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_until_served(f"http://127.0.0.1:{port}/", process, seconds=180)
        yield Machine(process, port, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def family(root: int) -> list[int]:
    """A process and all below it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def pss_mb(machine: Machine) -> float:
    """Proportional set size of all processes together."""
    total = 0
    for pid in family(machine.process.pid):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def sign_in(port: int, name: str) -> str:
    """The session of a demo account."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/accounts/login/")
    page = connection.getresponse()
    cookie = cookie_of(page, "csrftoken")
    token = load.TOKEN.search(page.read().decode()).group(1)  # type: ignore[union-attr]  # the form has one
    form = urlencode({"csrfmiddlewaretoken": token, "login": name, "password": PASSWORD})
    headers = {"Cookie": f"csrftoken={cookie}", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/accounts/login/", form, headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 302:
        raise RuntimeError(f"{name} cannot sign in: {answer.status}")
    return cookie_of(answer, "sessionid")


def cookie_of(answer: Any, name: str) -> str:
    for header in answer.headers.get_all("Set-Cookie") or []:
        if header.startswith(f"{name}="):
            return str(header.partition("=")[2].partition(";")[0])
    raise RuntimeError(f"no cookie {name}")


def open_round(port: int, session: str) -> str:
    """Address of the demo's round that is half-way."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/demo/", headers={"Cookie": f"sessionid={session}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        found = ROUND.search(answer.read().decode())
    if not found:
        raise RuntimeError("the demo's home leads a rater to no round")
    return found.group().removesuffix("label/")


def label_all(port: int, session: str, round_path: str) -> int:
    """A rater answers what is left; returns how many."""
    rater = load.Rater(port, session, round_path)
    rater.open_page()
    while rater.has_bug:
        rater.save_and_next()
    return len(rater.times)


def close(port: int, session: str, round_path: str) -> None:
    """The lead closes the round, and kappa is counted."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"{round_path}close/", headers={"Cookie": f"sessionid={session}"})
    page = connection.getresponse()
    cookies = f"sessionid={session}; csrftoken={cookie_of(page, 'csrftoken')}"
    token = load.TOKEN.search(page.read().decode()).group(1)  # type: ignore[union-attr]  # the form has one
    headers = {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", f"{round_path}close/", urlencode({"csrfmiddlewaretoken": token}), headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 302:
        raise RuntimeError(f"the round was not closed: {answer.status}")


def wait_for_runs(port: int, session: str, *, seconds: float = 120) -> None:
    """Until the worker is through with the demo's recipe: what a run needs is loaded once, and is no growth."""
    deadline = time.monotonic() + seconds
    address = f"http://127.0.0.1:{port}/demo/reproduction/1/"
    while time.monotonic() < deadline:
        request = urllib.request.Request(address, headers={"Cookie": f"sessionid={session}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            if "not through yet" not in answer.read().decode():
                return
        time.sleep(1)
    raise RuntimeError("the demo's recipe is not through")
