"""The application as it is started: it serves, refuses a second start, and leaves nothing behind."""

import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.journeys.conftest import parents


@pytest.fixture(scope="module")
def var(tmp_path_factory):
    """One data folder for this module: the first start makes it, later ones are quick."""
    return tmp_path_factory.mktemp("var")


def alive(pids: list[int]) -> set[int]:
    return set(pids) & set(parents())


def all_gone(pids: list[int], seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pids)


def pss_mb(pids: list[int]) -> float:
    rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    kilobytes = [int(line.split()[1]) for text in rollups for line in text.splitlines() if line.startswith("Pss:")]
    return sum(kilobytes) * 1024 / 1e6


@pytest.fixture(scope="module")
def served(var, start_run):
    running = start_run(var)
    running.wait_until_served()
    return running


def test_it_serves_and_tells_where(served):
    assert served.answers("/healthz") == 200
    assert served.answers("/readyz") == 200
    assert served.answers("/accounts/login/") == 200
    assert f"Concord is at {served.url}/" in served.log.read_text()


def test_a_fresh_start_takes_less_than_350_mb(served):
    for path in ("/", "/accounts/login/", "/healthz") * 20:
        served.answers(path)
    assert pss_mb(served.family()) <= 350


def test_it_listens_on_loopback_alone(served):
    port = int(served.url.rpartition(":")[2])
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port]
    assert listening == [f"0100007F:{port:04X}"]


def test_a_second_start_on_the_same_data_is_refused_in_one_line(served, var, start_run):
    second = start_run(var)
    assert second.process.wait(30) != 0
    [line] = second.said()
    assert f"already runs on {var}" in line
    assert served.url in line


def test_a_port_in_use_is_said_in_one_line(tmp_path, start_run):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        running = start_run(tmp_path / "var", port=port)
        assert running.process.wait(30) != 0
    [line] = running.said()
    assert f"Port {port} is in use" in line
    assert "PORT=" in line


def test_the_worker_does_what_the_web_server_wakes_it_for(served, var):
    """A seal of the demo's history, asked for through the broker as a page would ask."""
    code = "import django; django.setup(); from annotator.web.wake import send; send('annotator.history.tasks.seal', (), queue='default')"
    environment = {"DJANGO_SETTINGS_MODULE": "annotator.settings", "REDIS_URL": f"unix://{var}/broker/valkey.sock"}
    subprocess.run([sys.executable, "-c", code], env=os.environ | environment | {"CONCORD_VAR": str(var)}, check=True)
    with closing(sqlite3.connect(var / "concord.sqlite3", timeout=20)) as database:
        deadline = time.monotonic() + 30
        while not (sealed := database.execute("SELECT COUNT(*) FROM history_seal").fetchone()[0]):
            assert time.monotonic() < deadline, "the worker sealed nothing"
            time.sleep(0.1)
    assert sealed == 1


def test_a_worker_that_dies_is_started_again(served):
    [worker] = [pid for pid in served.family() if b"celery" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(worker, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and "starting it again" not in served.log.read_text():
        time.sleep(0.1)
    assert "The worker ended (exit -9); starting it again." in served.log.read_text()
    assert any(b"celery" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in served.family())


def test_one_signal_ends_every_process_and_the_secret_stays(served, var, start_run):
    secret = (var / "secret").read_text()
    deadline = time.monotonic() + 60
    while len(family := served.family()) < 6:  # make, supervisor, broker, web server and its workers, worker
        assert time.monotonic() < deadline, family
        time.sleep(0.2)
    served.process.send_signal(signal.SIGTERM)
    served.process.wait(30)
    assert alive(family) == set()
    start_run(var).wait_until_served()
    assert (var / "secret").read_text() == secret
    assert len(secret) >= 50
    assert stat.S_IMODE((var / "secret").stat().st_mode) == 0o600


def test_ctrl_c_to_the_group_and_a_long_data_path(tmp_path, start_run):
    running = start_run(tmp_path / ("long" * 20) / ("deep" * 10))
    running.wait_until_served()
    assert running.answers("/readyz") == 200
    family = running.family()
    os.killpg(running.process.pid, signal.SIGINT)
    running.process.wait(30)
    assert alive(family) == set()


@pytest.mark.parametrize("who", ["make", "supervisor"])
def test_killing_one_leaves_no_orphan(who, tmp_path, start_run):
    running = start_run(tmp_path / "var")
    running.wait_until_served()
    family = running.family()
    os.kill(family[0 if who == "make" else 1], signal.SIGKILL)
    running.process.wait(5)
    assert all_gone(family, seconds=20)
