"""`manage.py reproduce`: five real bugs, and the word for every other ending; no database, bad input in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotator.clients.environments import interpreters
from tests.factories.reproduction import SHOWS, VERSION, document, here

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT.parent / "shared" / "repro"
pytestmark = pytest.mark.once
ORACLES: dict[str, tuple[str, dict[str, Any]]] = {
    "numpy_dirichlet_nan": ("3.8", {"stdout_matches": "rows with NaN: [1-9]"}),
    "pandas_rolling_sum": ("3.8", {"stdout_matches": r"sum: .*0\.0\]$"}),
    "sklearn_rmse_multioutput": ("3.8", {"metric": {"name": "RMSE", "above": 4.5}}),
    "keras_loss_partial_batch": ("3.11", {"metric": {"name": "loss", "above": 30}}),
    "tf_accuracy_after_load": ("3.8", {"metric": {"name": "accuracy", "below": 0.8}}),
}
LARGE = ("keras_loss_partial_batch", "tf_accuracy_after_load")


def reproduce(recipe: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Without a database: the address of one that cannot be."""
    environment = os.environ | {"DATABASE_URL": "sqlite:////nowhere/at/all.sqlite3"} | variables
    kept = str(here().environments.folder)
    command = [sys.executable, "manage.py", "reproduce", str(recipe), "--environments", kept, *options]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def told(folder: Path, described: dict[str, Any], script: str = SHOWS, *options: str) -> dict[str, Any]:
    (folder / "recipe.yaml").write_text(yaml.safe_dump(described))
    (folder / "repro.py").write_text(script)
    done = reproduce(folder / "recipe.yaml", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.large) if name in LARGE else name for name in ORACLES]
)
def test_a_real_bug_is_reproduced_with_the_output_that_was_seen(name, tmp_path):
    python, oracle = ORACLES[name]
    if not CASES.exists():
        pytest.skip("needs the bugs in ../shared/repro, which are not part of the project")
    if not interpreters.find(python):
        pytest.skip(f"needs a Python {python}: install it, for example by pyenv")
    case = CASES / name
    pins = {version: (case / f"{version}.requirements.txt").read_text().split() for version in ("buggy", "fixed")}
    listed = [
        {"name": "buggy", "python": python, "requirements": pins["buggy"], "expect": "bug"},
        {"name": "fixed", "python": python, "requirements": pins["fixed"], "expect": "no_bug"},
    ]
    described = {"name": name, "script": "repro.py", "environments": listed, "oracle": oracle, "repeats": 3}
    result = told(tmp_path, described, (case / "repro.py").read_text())
    assert result["verdict"] == "reproduced", result["said"]
    for environment in result["environments"]:
        seen = (case / f"{environment['name']}.txt").read_text()
        assert [run["output"] for run in environment["runs"]] == [seen] * 3
        assert {f"{package}=={at}" for package, at in environment["installed"].items()} >= set(
            pins[environment["name"]]
        )


def test_the_document_is_as_promised(tmp_path):
    result = told(tmp_path, document(repeats=1))
    assert (result["verdict"], result["votes"]) == ("reproduced", None)
    assert [(one["name"], one["outcome"]) for one in result["environments"]] == [("buggy", "bug"), ("fixed", "no_bug")]
    (run,) = result["environments"][0]["runs"]
    assert (run["exit_code"], run["outcome"], run["output"]) == (0, "bug", "NaN\n")
    assert run["seconds"] > 0 and run["peak_mb"] > 0


def test_a_verdict_that_was_reached_is_exit_code_0_unless_another_was_expected(tmp_path):
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(document(repeats=1)))
    (tmp_path / "repro.py").write_text("print('fine')\n")
    done = reproduce(tmp_path / "recipe.yaml", "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"], done.stderr) == (0, "not_reproduced", "")
    done = reproduce(tmp_path / "recipe.yaml", "--json", "--expect", "not_reproduced")
    assert (done.returncode, done.stderr) == (0, "")
    done = reproduce(tmp_path / "recipe.yaml", "--json", "--expect", "reproduced")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (1, "not_reproduced")
    assert done.stderr == "The verdict is not_reproduced; reproduced was expected.\n"
    assert reproduce(tmp_path / "recipe.yaml", "--expect", "good").returncode == 2


def test_a_missing_interpreter_is_infrastructure(tmp_path):
    result = told(tmp_path, document(repeats=1, buggy={"python": "3.4"}))
    assert (result["verdict"], result["environments"][0]["outcome"]) == ("infrastructure", "no_interpreter")


def test_a_full_path_is_an_interpreter_as_well(tmp_path):
    path = str(interpreters.find(VERSION).path)
    assert told(tmp_path, document(repeats=1, buggy={"python": path}))["verdict"] == "reproduced"


def test_without_a_sandbox_nothing_is_run(tmp_path):
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(document(repeats=1, buggy={"python": sys.executable})))
    (tmp_path / "repro.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nprint('NaN')")
    (tmp_path / "empty").mkdir()
    done = reproduce(tmp_path / "recipe.yaml", "--json", PATH=str(tmp_path / "empty"))
    result = json.loads(done.stdout)
    assert (result["verdict"], result["environments"][0]["outcome"]) == ("infrastructure", "refused")
    assert not (tmp_path / "ran").exists()


def test_deviants_are_named_by_vote(tmp_path):
    listed = [{"name": name, "python": VERSION, "variables": {"SHOWS": name}} for name in ("no", "yes", "neither")]
    described = document(repeats=1) | {"kind": "differential", "environments": listed, "compare": "stdout"}
    result = told(tmp_path, {key: value for key, value in described.items() if key != "oracle"})
    assert (result["votes"]["deviants"], result["votes"]["majority"]) == (["yes"], ["no", "neither"])
    assert result["environments"][0]["outcome"] == "observed"


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("name: [", "no YAML"),
        ("name: x", "environments"),
        ("name: x\nscript: absent.py\nenvironments: [{name: a, python: '3', expect: bug}]", "python is a version"),
        (yaml.safe_dump(document()).replace("repro.py", "absent.py"), "script"),
        (None, "cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, recipe, said):
    path = tmp_path / "recipe.yaml"
    if recipe is not None:
        path.write_text(recipe)
    done = reproduce(path, "--json")
    assert (done.returncode, done.stdout, len(done.stderr.strip().splitlines())) == (2, "", 1)
    assert said in done.stderr


def test_a_script_outside_the_recipes_folder_is_refused(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.py").write_text("print('NaN')")
    (tmp_path / "inner" / "repro.py").symlink_to(tmp_path / "secret.py")
    (tmp_path / "inner" / "recipe.yaml").write_text(yaml.safe_dump(document()))
    done = reproduce(tmp_path / "inner" / "recipe.yaml", "--json")
    assert (done.returncode, "leads out" in done.stderr) == (2, True)


def test_the_folder_for_readers_reruns_with_uv_alone(tmp_path):
    from uv import find_uv_bin

    replay = tmp_path / "replay"
    described = document(repeats=2, buggy={"requirements": ["six==1.16.0"]})
    script = SHOWS + "try:\n    import six\n    print('six', six.__version__)\nexcept ImportError:\n    pass\n"
    told(tmp_path, described, script, "--replay", str(replay))
    assert "--hash=sha256:" in (replay / "buggy.requirements.txt").read_text()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "VIRTUAL_ENV"))}
    environment["PATH"] = f"{Path(find_uv_bin()).parent}:{environment['PATH']}"
    if "PIP_INDEX_URL" in environment:
        environment.setdefault("UV_DEFAULT_INDEX", environment["PIP_INDEX_URL"])
    command = ["uv", "run", "--no-project", "--python", sys.executable, "replay.py"]
    done = subprocess.run(command, cwd=replay, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the bug shows\n") == 2 and done.stdout.count("six 1.16.0") == 2
    (replay / "repro.py").write_text("print('fine')")
    done = subprocess.run(command, cwd=replay, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Not as expected." in done.stdout
