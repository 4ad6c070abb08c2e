"""Scripts that try to get out. None does, in bubblewrap by either way of bounding it, nor in a container engine.

Each says that it tries before it does. Those that do no harm are tried without a sandbox as well, where they have to
succeed: so the test could fail.
"""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.job import How
from tests.integration.sandboxes.hostile import ALL, HARMING, QUIET, TOGETHER, Escape
from tests.integration.sandboxes.running import python

pytestmark = pytest.mark.once
TOKEN = "concord-token-8f3e"


@pytest.fixture
def at(tmp_path, monkeypatch):
    """What a script could find here, and must not."""
    secret = tmp_path / "db.sqlite3"
    secret.write_text(f"rows {TOKEN}")
    monkeypatch.setenv("DATABASE_URL", f"postgres://{TOKEN}")
    monkeypatch.setenv("CONCORD_TOKEN", TOKEN)
    mark = f"7{time.time_ns() % 10**8}"
    home_mark = next(iter(sorted(path.name for path in Path.home().iterdir())), "")
    with ExitStack() as stack:
        victim = stack.enter_context(subprocess.Popen(["sleep", mark], start_new_session=True))
        stack.callback(victim.kill)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        tcp6 = stack.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.5)
        files = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(3)]
        unix, engine = str(tmp_path / "app.sock"), str(tmp_path / "engine.sock")
        for listening, address in zip(files, (unix, engine, f"\0concord-{mark}"), strict=True):
            listening.bind(address)
            listening.listen()
        told = {
            "secret": str(secret), "outside": str(tmp_path), "token": TOKEN, "home": str(Path.home()), "home_mark": home_mark,
            "victim": victim.pid, "victim_mark": mark, "worker": os.getpid(), "group": victim.pid,
            "tcp": tcp.getsockname()[1], "tcp6": tcp6.getsockname()[1], "udp": udp.getsockname()[1],
            "unix": unix, "engine": engine, "abstract": f"concord-{mark}",
        }  # fmt: skip
        yield Laid(told=told, victim=victim, udp=udp, folder=tmp_path)


class Laid:
    def __init__(self, *, told, victim, udp, folder):
        self.told, self.victim, self.udp, self.folder = told, victim, udp, folder
        self.before = sorted(folder.rglob("*"))

    def arrived(self) -> bool:
        """A datagram."""
        try:
            return self.udp.recv(100) == b"escaped"
        except TimeoutError:
            return False

    def is_untouched(self) -> bool:
        return (
            self.victim.poll() is None
            and state_of(self.victim.pid) != "T"
            and sorted(self.folder.rglob("*")) == self.before
        )


def state_of(pid) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def reported(output: bytes) -> dict:
    """What the script said after it said that it tries."""
    trying, *said = [line for line in output.decode().splitlines() if line.strip()]
    assert trying == "trying"
    return json.loads(said[-1])


def contained(escape: Escape, at, output: bytes, *, in_container=False) -> str:
    """Nothing, or what it got away with."""
    assert output.startswith(b"trying\n"), escape.name
    assert TOKEN.encode() not in output, escape.name
    said = [json.loads(line) for line in output.decode().splitlines()[1:] if line.startswith('{"')]
    got = said[-1].get("got") if said else None  # it may have ended itself
    return "" if escape.within and in_container else got or ""


@pytest.mark.parametrize("uses_groups", [True, False], ids=["groups", "watched"])
@pytest.mark.parametrize("escape", ALL, ids=lambda escape: escape.name)
def test_bubblewrap_contains(at, escape: Escape, uses_groups):
    ended = python(Bubblewrap(uses_groups=uses_groups), escape.source, also={"at.json": json.dumps(at.told)})
    assert ended.how is How.EXITED
    assert not contained(escape, at, ended.stdout), ended.stderr.decode()
    assert at.is_untouched()
    assert escape.name != "send a datagram" or not at.arrived()


@pytest.mark.xdist_group("engine")
@pytest.mark.parametrize("escape", HARMING, ids=lambda escape: escape.name)
def test_container_contains(engine, at, escape: Escape):
    ended = python(engine, escape.source, also={"at.json": json.dumps(at.told)})
    assert ended.how is How.EXITED
    assert not contained(escape, at, ended.stdout, in_container=True), ended.stderr.decode()
    assert at.is_untouched()


@pytest.mark.xdist_group("engine")
def test_container_contains_all_that_can_be_tried_one_after_another(engine, at):
    files = {f"escape-{place}.py": escape.source for place, escape in enumerate(QUIET)}
    ended = python(engine, TOGETHER, also={**files, "at.json": json.dumps(at.told)}, seconds=120)
    assert ended.exit_code == 0, ended.stderr.decode()
    said = json.loads(ended.stdout)
    outputs = {escape: said[f"escape-{place}.py"][1].encode() for place, escape in enumerate(QUIET)}
    got = {escape.name: contained(escape, at, output, in_container=True) for escape, output in outputs.items()}
    assert len(got) == len(QUIET) and not any(got.values()), {name: what for name, what in got.items() if what}
    assert at.is_untouched() and not at.arrived()


@pytest.mark.parametrize("escape", [one for one in ALL if one.works_bare], ids=lambda escape: escape.name)
def test_the_same_script_gets_out_where_nothing_holds_it(at, escape, tmp_path):
    if escape.name == "connect by IPv6" and not socket.has_ipv6:
        pytest.skip("needs IPv6")
    work = tmp_path / "work"
    work.mkdir()
    (work / "script.py").write_text(escape.source)
    (work / "at.json").write_text(json.dumps(at.told))
    done = subprocess.run([sys.executable, "-I", "script.py"], cwd=work, capture_output=True, check=True, timeout=30)
    said = reported(done.stdout)
    if escape.name == "send a datagram":
        assert at.arrived()
    else:
        assert said.get("got"), said


def test_there_are_at_least_forty_of_them():
    assert len({escape.source for escape in ALL}) == len(ALL) >= 80
