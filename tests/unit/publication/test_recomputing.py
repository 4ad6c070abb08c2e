"""The script of a release in a process of its own: what does not come to its end is no passed check."""

import os
import time

import pytest

from annotator.publication.recomputing import recomputing


def answer_of(folder, script, *checks):
    (folder / "check.py").write_text(script)
    with recomputing(folder, *checks) as answer:
        return answer()


def test_what_the_script_found_is_handed_back(tmp_path):
    script = "def one(folder): return len(list(folder.iterdir())), []\ndef two(folder): return 2, ['this']\n"
    assert answer_of(tmp_path, script, "one", "two") == {"one": (1, []), "two": (2, ["this"])}


@pytest.mark.parametrize(
    "script",
    [
        "def one(folder): raise ValueError('no such column')",
        "import os, signal\ndef one(folder): os.kill(os.getpid(), signal.SIGKILL)",
        "import sys\ndef one(folder): sys.exit(0)",
        "def other(folder): return 1, []",
        "not Python",
    ],
)
def test_a_script_that_does_not_come_to_its_end_fails(tmp_path, script):
    with pytest.raises((RuntimeError, ValueError)):
        answer_of(tmp_path, script, "one")


def test_the_script_sees_none_of_the_servers_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of the server")
    _, names = answer_of(tmp_path, "import os\ndef one(folder): return 0, list(os.environ)", "one")["one"]
    assert "PATH" in names
    assert "SECRET_KEY" not in names


def failing_beside(folder, noted):
    with recomputing(folder, "one"):
        while not noted.exists() or not noted.read_text():
            time.sleep(0.01)
        raise KeyError


def test_nobody_computes_on_once_a_check_beside_it_has_failed(tmp_path):
    noted = tmp_path / "process"
    (tmp_path / "check.py").write_text(
        "import os, time\n"
        "def one(folder):\n    (folder / 'process').write_text(str(os.getpid()))\n    time.sleep(600)\n"
    )
    with pytest.raises(KeyError):
        failing_beside(tmp_path, noted)
    with pytest.raises(ProcessLookupError):
        os.kill(int(noted.read_text()), 0)
