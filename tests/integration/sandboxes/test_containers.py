"""What is particular to a container engine."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from annotator.clients.sandboxes.containers import Containers
from annotator.clients.sandboxes.engine import LABEL, Engine
from annotator.clients.sandboxes.job import Refused
from annotator.reproduction import working
from annotator.reproduction.workshop import Workshop
from tests.integration.environments.inside import refuse_told_places_in
from tests.integration.sandboxes.left import eventually
from tests.integration.sandboxes.running import job, python, run
from tests.services.broker import broker

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.once, pytest.mark.xdist_group("engine")]


def left(engine: Containers) -> list[str]:
    return engine.engine.told("ps", "--all", "--quiet", f"--filter=label={LABEL}").split()


def test_no_container_stays(engine):
    run(engine, "true")
    run(engine, "sleep", "9", seconds=1)
    assert left(engine) == []


KILLED = """
from annotator.clients.sandboxes.containers import Containers
from annotator.clients.sandboxes.job import Job
Containers().run(Job(name="killed", command=("sleep", "600")), heard=print, stopped=lambda: False)
"""


def test_container_of_a_killed_worker_is_removed_by_the_next(engine):
    leave_one(engine)
    run(engine, "true")
    assert left(engine) == []


def leave_one(engine: Containers) -> None:
    """Of a worker that is killed while its container runs."""
    process = subprocess.Popen([sys.executable, "-c", KILLED], cwd=ROOT)
    assert eventually(lambda: any("killed" in name for name in names(engine)))
    process.kill()
    process.wait()
    assert any("killed" in name for name in names(engine))


@contextmanager
def started(line: list[str], **variables: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, *line], cwd=ROOT, env=os.environ | variables)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_container_of_a_killed_worker_is_removed_when_a_worker_starts(engine, tmp_path):
    leave_one(engine)
    line = ["-m", "celery", "--skip-checks", "-A", "annotator", "worker", "-P", "threads", "-c", "1", "-Q", "nothing"]
    with broker() as redis, started(line, REDIS_URL=redis, CONCORD_VAR=str(tmp_path)):
        assert eventually(lambda: left(engine) == [])


def test_container_of_a_killed_host_is_removed_when_a_host_starts(engine, tmp_path):
    leave_one(engine)
    (tmp_path / "key").write_text("cc_key")
    line = ["manage.py", "run_host", "http://127.0.0.1:9", "--token-file", str(tmp_path / "key")]
    with started(line, CONCORD_VAR=str(tmp_path)):
        assert eventually(lambda: left(engine) == [])


def test_a_worker_looks_again_and_again(engine, monkeypatch):
    monkeypatch.setattr(working, "SWEEP_EVERY", 0.1)
    monkeypatch.setattr(working, "here", lambda: Workshop(environments=None, sandboxes={"docker": engine}))
    sweeping = working.Sweeping()
    sweeping.start()
    try:
        leave_one(engine)
        assert eventually(lambda: left(engine) == [])
    finally:
        sweeping.stop()
        sweeping.join()


def test_an_environment_tells_no_folder_of_the_machine(engine, tmp_path):
    refuse_told_places_in(engine, tmp_path)


def test_container_that_nobody_watches_is_bounded_in_processor_time(engine):
    ended = run(engine, "sh", "-c", "ulimit -t", seconds=7)
    assert ended.stdout.decode().strip() == str(67 * os.cpu_count())


def names(engine: Containers) -> list[str]:
    return engine.engine.told("ps", "--format={{.Names}}", f"--filter=label={LABEL}").split()


def small_image(engine: Containers, *, made: str = "of it\n", name: str = "concord-test:2", also=()) -> str:
    """A shell, four tools, the libraries that they load, and files that this machine does not have."""
    programs = [shutil.which(name) for name in ("sh", "mkdir", "cp", "chmod", "cat")]
    told = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True).stdout
    libraries = sorted(set(re.findall(r"(/\S+\.so\S*)", told)))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
        for path in libraries:
            archive.add(path, path.lstrip("/"))
        for path in programs:
            archive.add(path, f"bin/{Path(path).name}")
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        archive.addfile(folder)
        for path, content in {"etc/made": made, **dict(also)}.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content.encode()))
    change = "--change=ENV FROM_IMAGE=yes PATH=/bin"
    return engine.engine.told("import", change, "-", name, stdin=packed.getvalue()).strip()


def test_script_runs_in_the_image_that_it_names(engine):
    script = "cat /etc/made brought.txt; echo $FROM_IMAGE $OWN; [ -e /usr/bin/python3 ] || echo alone"
    asked = {"files": {"brought.txt": "along\n"}, "variables": {"OWN": "too"}, "image": small_image(engine)}
    ended = run(engine, "sh", "-c", script, **asked)
    assert (ended.stdout, ended.stderr) == (b"of it\nalong\nyes too\nalone\n", b"")


def test_image_without_a_shell_is_refused(engine):
    with pytest.raises(Refused, match="could not start it"):
        run(engine, "true", image=engine.engine.image(""))


def test_image_that_cannot_be_fetched_is_refused(engine):
    with pytest.raises(Refused, match=r"docker pull|podman pull"):
        run(engine, "true", image="127.0.0.1:9/nothing:1")
    with pytest.raises(Refused, match="no name of an image"):
        run(engine, "true", image="--privileged")


@pytest.mark.parametrize("lacks", ["MemoryLimit", "PidsLimit", "SecurityOptions"])
def test_engine_that_bounds_less_is_refused(tmp_path, lacks):
    can = {"MemoryLimit": True, "PidsLimit": True, "SecurityOptions": ["name=seccomp,profile=default"]} | {lacks: None}
    weak = tmp_path / "docker"
    weak.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(can)}\nEND\n")
    weak.chmod(0o755)
    with pytest.raises(Refused, match="does not hold containers to a bound of"):
        Containers(engine=Engine(command=(str(weak),))).check(job())


def test_engine_that_answers_and_starts_nothing_is_refused(tmp_path):
    can = {"MemoryLimit": True, "PidsLimit": True, "SecurityOptions": ["name=seccomp"]}
    broken = tmp_path / "docker"
    broken.write_text(
        f"#!/bin/sh\n[ $1 = info ] && echo '{json.dumps(can)}' && exit 0\necho no runtime >&2; exit 125\n"
    )
    broken.chmod(0o755)
    with pytest.raises(Refused, match="no runtime"):
        Containers(engine=Engine(command=(str(broken),))).check(job())


def test_refused_without_an_engine(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="neither docker nor podman is here"):
        Containers().check(job())


def test_gpu_is_refused_without_the_toolkit(engine):
    with pytest.raises(Refused, match="container toolkit"):
        engine.check(job(devices=("GPU-one",), gpus=1))


def test_secrets_of_the_worker_are_not_in_the_container(engine, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    assert os.environ["DATABASE_URL"] and b"secret" not in python(engine, "import os; print(dict(os.environ))").stdout
