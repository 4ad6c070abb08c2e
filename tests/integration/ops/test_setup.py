"""What a newcomer's machine may lack is said in one line. Small stand-ins play the Pythons that are not here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OLD = """#!/bin/sh
case "$2" in
*print*) echo 3.9.2 ;;
*version_info*) exit 1 ;;
esac
"""
WITHOUT_VENV = """#!/bin/sh
case "$2" in
*print*) echo 3.12.1 ;;
*venv*) exit 1 ;;
esac
"""


@pytest.fixture
def project(tmp_path):
    """The project's set-up files alone, with a PATH of one's own."""
    folder = tmp_path / "project"
    (folder / "ops").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for name in ("Makefile", "requirements.txt", "ops/find-python", "ops/setup.py"):
        shutil.copy(ROOT / name, folder / name)
    for tool in ("make", "sh"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    return folder


def make_setup(project: Path, python: str | None, **more: str) -> subprocess.CompletedProcess[str]:
    path = project.parent / "bin"
    if python:
        (path / "python3").write_text(python)
        (path / "python3").chmod(0o755)
    return subprocess.run(
        ["make", "setup"], cwd=project, env={"PATH": str(path), **more}, capture_output=True, text=True, check=False
    )


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that is not make's own."""
    assert done.returncode != 0
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if line and not line.startswith("make: ")]
    return line


def test_an_old_python_is_named_in_one_line(project):
    assert "3.11 or newer is needed, found only 3.9.2" in complaint(make_setup(project, OLD))


def test_no_python_is_said_in_one_line(project):
    assert "3.11 or newer is needed, found none" in complaint(make_setup(project, None))


def test_a_python_without_venv_is_named_in_one_line(project):
    assert "3.12.1" in complaint(make_setup(project, WITHOUT_VENV))
    assert "no venv module" in complaint(make_setup(project, WITHOUT_VENV))


def test_a_named_python_that_is_missing_is_said_in_one_line(project):
    assert "found none at /nowhere/python3" in complaint(make_setup(project, None, PYTHON="/nowhere/python3"))


def test_a_folder_that_cannot_be_written_is_named_in_one_line(project):
    project.chmod(0o555)
    sealed = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev"] if os.geteuid() == 0 else []  # root writes anywhere
    done = subprocess.run(
        [*sealed, "make", "setup"],
        cwd=project,
        env={"PATH": os.environ["PATH"], "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"Cannot write to {project}" in complaint(done)


def test_a_second_setup_does_nothing(project):
    uv = project.parent / "bin" / "uv"
    uv.write_text("#!/bin/sh\n")  # the index is out of a test's reach
    uv.chmod(0o755)
    environment = {"PYTHON": sys.executable}
    first = make_setup(project, None, **environment)
    assert (first.returncode, "Environment ready" in first.stdout) == (0, True), first.stderr
    second = make_setup(project, None, **environment)
    assert (second.returncode, second.stdout + second.stderr) == (0, "")
