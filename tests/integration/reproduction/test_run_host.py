"""A host from its start to its end: it has an address and a key, no database and no broker."""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from annotator.reproduction import hosts, leases, queries
from annotator.reproduction.models import Run, Series
from annotator.reproduction.workshop import memory_mb
from tests.factories.reproduction import here, make_series
from tests.integration.reproduction.test_running import processes_with

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
LONG = "import time\nprint('begun', flush=True)\ntime.sleep(711)\n"


@pytest.fixture
def key(study, lee, tmp_path) -> Path:
    file = tmp_path / "key"
    file.write_text(hosts.add_host(study=study, name="box-1", by=lee)[1] + "\n")
    return file


def started(url: str, key: Path, *options: str) -> "subprocess.Popen[str]":
    environment = os.environ | {
        "DATABASE_URL": "sqlite:////nowhere/at/all.sqlite3",
        "REDIS_URL": "",
        "LOG_LEVEL": "INFO",
    }
    kept = str(here().environments.folder)
    command = [sys.executable, "manage.py", "run_host", url, "--token-file", str(key), "--environments", kept, *options]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)


def sleeper() -> str:
    """A script's name that no other test has, so that what runs of it is this test's own."""
    return f"sleeper-{secrets.token_hex(4)}.py"


def wait_until(holds, *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.1)


def test_a_host_carries_a_series_out(live_server, study, bugs, ada, key):
    series = make_series(bugs[0], ada)
    host = started(live_server.url, key, "--once", "--json")
    out, said = host.communicate(timeout=120)
    assert (host.returncode, out.strip()) == (0, '{"done": 4}'), said
    (told,) = queries.series_told(Series.objects.filter(pk=series.pk))
    assert told.verdict.verdict == "reproduced"
    assert {run.host.name for run in told.runs} == {"box-1"}
    assert [piece.text for piece in queries.log_after(told.runs[0], -1)] == ["NaN\n"]


def test_it_has_several_runs_at_once_within_its_memory(live_server, study, bugs, ada, key):
    series = make_series(bugs[0], ada, script=LONG, repeats=2, limits={"seconds": 800, "memory_mb": memory_mb() // 3})
    host = started(live_server.url, key, "--jobs", "4", "--pause", "0.1")
    wait_until(lambda: series.runs.filter(log__isnull=False).distinct().count() == 3)
    assert series.runs.filter(state="running").count() == 3
    assert series.runs.get(state="waiting")
    host.send_signal(signal.SIGTERM)
    _, said = host.communicate(timeout=60)
    assert host.returncode == 0, said
    assert series.runs.filter(state="waiting").count() == 4


def test_told_to_stop_it_hands_its_run_back_and_leaves_nothing(live_server, study, bugs, ada, key):
    name = sleeper()
    run = make_series(bugs[0], ada, script=LONG, named=name, repeats=1, limits={"seconds": 800}).runs.first()
    host = started(live_server.url, key)
    wait_until(lambda: run.log.exists())
    assert processes_with(name) != []
    begun = time.monotonic()
    host.send_signal(signal.SIGTERM)
    _, said = host.communicate(timeout=30)
    assert (host.returncode, time.monotonic() - begun < 15) == (0, True), said
    run.refresh_from_db()
    assert (run.state, run.faults[0]["outcome"], run.faults[0]["host"]) == ("waiting", "lost", "box-1")
    assert processes_with(name) == []


def test_killed_it_leaves_no_process_and_its_run_is_taken_up_again(live_server, study, bugs, ada, key):
    name = sleeper()
    run = make_series(bugs[0], ada, script=LONG, named=name, repeats=1, limits={"seconds": 800}).runs.first()
    host = started(live_server.url, key)
    wait_until(lambda: run.log.exists())
    host.kill()
    host.communicate(timeout=30)
    wait_until(lambda: processes_with(name) == [], seconds=10)
    Run.objects.filter(pk=run.pk).update(lease_until="2020-01-01T00:00:00Z")
    assert [one.pk for one in leases.expire()] == [run.pk]


def test_a_run_that_is_cancelled_ends_on_the_host(live_server, study, bugs, ada, key, monkeypatch):
    from annotator.reproduction import actions

    monkeypatch.setattr(leases, "LEASE", leases.dt.timedelta(seconds=4))
    name = sleeper()
    run = make_series(bugs[0], ada, script=LONG, named=name, repeats=1, limits={"seconds": 800}).runs.first()
    host = started(live_server.url, key, "--once")
    wait_until(lambda: run.log.exists())
    actions.cancel_series(series=run.series, by=ada)
    _, said = host.communicate(timeout=30)
    assert host.returncode == 0 and "no longer wanted" in said
    assert processes_with(name) == []


@pytest.mark.parametrize(
    ("url", "content", "said"),
    [
        ("http://192.0.2.1:8000", "cc_x", "begins with https"),
        ("ftp://localhost", "cc_x", "begins with https"),
        ("https://", "cc_x", "begins with https"),
        (None, "", "holds no key"),
        (None, "two words", "holds no key"),
        (None, "cc_unknown", "does not take the key"),
    ],
)
def test_what_cannot_work_is_one_line_and_exit_code_2(live_server, tmp_path, url, content, said):
    (tmp_path / "key").write_text(content)
    host = started(url or live_server.url, tmp_path / "key", "--once", "--json")
    out, err = host.communicate(timeout=60)
    assert (host.returncode, out, len(err.strip().splitlines())) == (2, "", 1)
    assert said in err
