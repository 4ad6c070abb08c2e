"""What is particular to bubblewrap, and what is refused beforehand."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from annotator.clients.sandboxes import bubble, bubblewrap, groups
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.job import Refused
from tests.integration.sandboxes.left import eventually, running
from tests.integration.sandboxes.running import READS, job, python, run

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"image": "python:3.8"}, "container engine"),
        ({"name": "../x"}, "name of a job"),
        ({"command": ("A=B",)}, "equals sign"),
        ({"command": ("echo", "a\0b")}, "NUL"),
        ({"files": {"../x": ""}}, "plain file name"),
        ({"files": {".x": ""}}, "plain file name"),
        ({"variables": {"A=B": "c"}}, "environment variable"),
        ({"variables": {"A": "c\0d"}}, "NUL"),
        ({"reads": {"/seen": Path("/")}}, "more than a script may read"),
        ({"reads": {"/seen": Path.home()}}, "more than a script may read"),
        ({"reads": {"/seen": Path("usr")}}, "no folder"),
        ({"reads": {"/seen": Path("/usr/../root")}}, "no folder"),
        ({"reads": {"/seen": Path("/nowhere/at/all")}}, "no folder"),
        ({"memory_mb": 0}, "more than nothing"),
        ({"seconds": -1}, "more than nothing"),
        ({"gpus": 1}, "asks for 1 GPU"),
        ({"devices": ("GPU-1",)}, "GPU-1"),
    ],
)
def test_refused_with_the_reason(asked, said):
    asked = dict(asked)
    with pytest.raises(Refused, match=said):
        Bubblewrap().check(job(*asked.pop("command", ()), **asked))


@pytest.mark.parametrize("tool", ["bwrap", "setpriv", "prlimit"])
def test_refused_where_a_part_of_it_is_missing(tool, monkeypatch):
    monkeypatch.setattr(bubble.shutil, "which", lambda name, path: None if name == tool else f"/usr/bin/{name}")
    with pytest.raises(Refused, match=f"{tool} is not here"):
        Bubblewrap().run(job(), heard=lambda *_: None, stopped=lambda: False)


def test_refused_where_the_machine_makes_no_sandboxes(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    bubblewrap.trial.cache_clear()
    with pytest.raises(Refused, match="No permissions to create new namespace"):
        Bubblewrap().run(job(), heard=lambda *_: None, stopped=lambda: False)
    bubblewrap.trial.cache_clear()


def test_nothing_outlives_a_killed_worker():
    mark = f"7{time.time_ns() % 10**8}"
    worker = f"""
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.job import Job
command = ("sh", "-c", "setsid sleep {mark} & sleep {mark}")
Bubblewrap().run(Job(name="killed", command=command), heard=print, stopped=lambda: False)
"""
    process = subprocess.Popen([sys.executable, "-c", worker], cwd=ROOT)
    assert eventually(lambda: len(running(mark)) >= 2)
    process.kill()
    process.wait()
    assert eventually(lambda: not running(mark))
    assert eventually(lambda: not groups_of(process.pid, after=lambda: run(Bubblewrap(), "true")))


def test_no_control_group_stays():
    assert not groups_of(os.getpid(), after=lambda: run(Bubblewrap(), "true"))


def test_reads_of_this_python_are_enough():
    assert python(Bubblewrap(), "import json, ssl, sqlite3; print('fine')", reads=READS).stdout == b"fine\n"


def groups_of(pid, *, after):
    after()
    found = groups.places()
    return [path for folder in (found.folders if found else []) for path in folder.glob(f"concord-{pid}-*")]


def test_gpu_of_the_job_and_no_other_is_shown(tmp_path):
    """With files of the system's own as pretend devices; see tests/unit/clients/test_gpu.py for the choice."""
    cards = {"GPU-one": Path("/dev/full"), "GPU-two": Path("/dev/tty")}
    used = iter([100.0, 900.0, *[400.0] * 1000])
    sandbox = Bubblewrap(nodes=lambda name: [cards[name]], gpu_used_mb=lambda names: next(used))
    script = "ls /dev/full; echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER; sleep 0.2"
    ended = run(sandbox, "sh", "-c", script, devices=("GPU-one",), gpus=1)
    assert ended.stdout == b"/dev/full\nGPU-one PCI_BUS_ID\n"
    assert ended.gpu_peak_mb == 800
