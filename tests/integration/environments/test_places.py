"""What a script says tells nothing of where this machine keeps environments and Pythons."""

import pytest

from annotator.clients.environments import interpreters
from annotator.clients.environments.spec import Spec
from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.reproduction.foreground import Reproduction
from annotator.reproduction.workshop import Workshop, workshop
from tests.factories.reproduction import recipe
from tests.integration.environments.inside import inside, refuse_told_places

pytestmark = pytest.mark.once


def pythons() -> list[str]:
    return [one.version.rpartition(".")[0] for one in interpreters.found()]


@pytest.mark.parametrize("python", pythons())
def test_a_script_tells_no_folder_of_the_machine(environments, python):
    six = ("six==1.16.0",)
    refuse_told_places(environments, python=python, requirements=six, also="import six; print(six.__file__)")


def test_set_up_commands_find_the_python_that_they_set_up(fresh):
    command = 'python -c "import sys; assert sys.prefix == sys.argv[1], sys.prefix" "$VIRTUAL_ENV"'
    for python in pythons():
        with fresh.ready(fresh.lock(Spec(python=python, setup=(command,)))) as environment:
            assert inside(environment, "print('ready')") == "ready"


@pytest.mark.parametrize(
    "changes",
    [
        {"requirements": ["numpy==0.0.1"]},
        {"setup": ["cat /nowhere/at/all"]},
        {"setup": ["ls $VIRTUAL_ENV/nothing; exit 1"]},
    ],
)
def test_what_kept_a_run_from_its_environment_tells_none_either(tmp_path, changes):
    folder = tmp_path / "kept here"
    sandbox = Bubblewrap()
    place = Workshop(environments=Environments(folder=folder, sandbox=sandbox), sandboxes={"local": sandbox})
    said = run_in(place, **changes)
    assert said and "kept here" not in said and str(tmp_path) not in said


def test_a_sandbox_that_is_refused_tells_none(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    place = workshop(tmp_path / "kept", runners=("docker",))
    said = run_in(place)
    assert said.startswith("No sandbox") and str(tmp_path) not in said
    (why,) = place.can().runners.values()  # which a worker tells of a run that it cannot take, and a host of itself
    assert "…/engine.sock" in why and str(tmp_path) not in why


def run_in(place: Workshop, **changes) -> str:
    tried = Reproduction(recipe=recipe(buggy=changes, repeats=1), script="print('NaN')\n", workshop=place)
    tried.carry_out()
    (result,) = tried.results["buggy"]
    return result.said
