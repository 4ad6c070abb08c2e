"""Recipes and runs, made as people and workers make them."""

import platform
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from annotator.accounts.models import User
from annotator.reproduction import actions, leases, recipes
from annotator.reproduction.ledger import Result, Used, Work
from annotator.reproduction.models import Recipe, Run, Series
from annotator.reproduction.workshop import Workshop, workshop
from annotator.sampling.models import Bug

VERSION = platform.python_version()  # of the interpreter that certainly is here
PYTHON = VERSION.rpartition(".")[0]
SHOWS = "import os\nprint('NaN' if os.environ['SHOWS'] == 'yes' else 'fine')\n"


def document(*, repeats: int = 2, **changes: Any) -> dict[str, Any]:
    """A buggy and a fixed environment that differ by a variable; `buggy` and `fixed` change them, `named` the script."""
    buggy = {"name": "buggy", "python": PYTHON, "variables": {"SHOWS": "yes"}, "expect": "bug"}
    fixed = {"name": "fixed", "python": PYTHON, "variables": {"SHOWS": "no"}, "expect": "no_bug"}
    named = changes.pop("named", "repro.py")
    usual = {"name": "NaN in the sum", "script": named, "oracle": {"stdout_matches": "NaN"}, "repeats": repeats}
    listed = [buggy | changes.pop("buggy", {}), fixed | changes.pop("fixed", {})]
    limits = {"seconds": 30, "memory_mb": 512} | changes.pop("limits", {})
    return usual | {"environments": listed, "limits": limits} | changes


def recipe(**changes: Any) -> recipes.Recipe:
    return recipes.from_document(document(**changes))


def make_recipe(bug: Bug, by: User, *, script: str = SHOWS, **changes: Any) -> Recipe:
    return actions.create_recipe(bug=bug, recipe=recipe(**changes), script=script, by=by)


def make_series(bug: Bug, by: User, *, script: str = SHOWS, **changes: Any) -> Series:
    return actions.ask(recipe=make_recipe(bug, by, script=script, **changes), by=by)


def claimed(run: Run, **more: Any) -> Work:
    work = leases.claim(run.pk, **more)
    assert work is not None
    return work


def ended(outcome: str = "bug", **more: Any) -> Result:
    used = Used(python="3.11.7", locked="")
    return Result(**({"outcome": outcome, "said": "As told.", "exit_code": 0, "stdout": "NaN\n", "used": used} | more))


def end_all(series: Series, **outcomes: str) -> None:
    """Every waiting run, by environment."""
    for run in series.runs.filter(state="waiting"):
        assert leases.end(claimed(run), ended(outcomes[run.environment]))


@cache
def here() -> Workshop:
    """This machine, with environments that the whole session keeps."""
    return workshop(Path(tempfile.gettempdir()) / "concord-test-environments")
