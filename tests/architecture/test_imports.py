"""The import direction is the research protocol."""

import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"sklearn", "scipy", "pandas"}


def contracts() -> ConfigParser:
    parser = ConfigParser()
    parser.read(ROOT / ".importlinter")
    return parser


def test_every_contract_is_kept():
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def test_a_contract_that_is_broken_is_noticed(tmp_path):
    """The linter reads this project: labeling importing agreement is an error."""
    package = tmp_path / "annotator"
    for name in ("labeling", "agreement"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "labeling" / "actions.py").write_text("import annotator.agreement\n")
    rules = "[importlinter]\nroot_package = annotator\n[importlinter:contract:stages]\nname = stages\ntype = layers\n"
    layers = [
        line
        for line in contracts()["importlinter:contract:stages"]["layers"].split("\n")
        if line in ("agreement", "labeling")
    ]
    (tmp_path / ".importlinter").write_text(
        rules + "containers = annotator\nlayers =\n    " + "\n    ".join(layers) + "\n"
    )
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "annotator.labeling is not allowed to import annotator.agreement" in done.stdout


def test_the_contract_orders_the_stages_as_the_settings_do():
    layers = contracts()["importlinter:contract:stages"]["layers"].split()
    listed = [layer for layer in reversed(layers) if layer in settings.STAGES]
    assert listed == settings.STAGES


def test_every_stage_keeps_its_inner_order():
    containers = contracts()["importlinter:contract:inside"]["containers"].split()
    assert {f"annotator.{stage}" for stage in settings.STAGES} <= set(containers)


@pytest.mark.parametrize("entry", ["annotator.wsgi"])
def test_a_web_process_loads_nothing_heavy(entry):
    code = f"import sys, {entry}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
