"""Five real bugs, each in its buggy and its fixed version: the output that was seen, in the sandbox."""

from pathlib import Path

import pytest

from annotator.clients.environments import interpreters
from annotator.clients.environments.spec import Spec
from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.job import How
from tests.integration.sandboxes.running import run

CASES = Path(__file__).resolve().parents[4] / "shared" / "repro"
pytestmark = pytest.mark.once
LARGE = pytest.mark.large
PYTHONS = {
    "numpy_dirichlet_nan": "3.8",
    "pandas_rolling_sum": "3.8",
    "sklearn_rmse_multioutput": "3.8",
    "keras_loss_partial_batch": "3.11",
    "tf_accuracy_after_load": "3.8",
}
SMALL = [name for name in PYTHONS if name.startswith(("numpy", "pandas", "sklearn"))]


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    return Environments(folder=tmp_path_factory.mktemp("environments"), sandbox=Bubblewrap())


@pytest.mark.parametrize("version", ["buggy", "fixed"])
@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=LARGE) for name in PYTHONS if name not in SMALL)])
def test_output_is_the_one_seen(environments, name, version):
    if not CASES.exists():
        pytest.skip("needs the bugs in ../shared/repro, which are not part of the project")
    if not interpreters.find(PYTHONS[name]):
        pytest.skip(f"needs a Python {PYTHONS[name]}: install it, for example by pyenv")
    case = CASES / name
    pins = tuple((case / f"{version}.requirements.txt").read_text().split())
    with environments.ready(environments.lock(Spec(python=PYTHONS[name], requirements=pins))) as environment:
        assert {f"{package}=={at}" for package, at in environment.installed.items()} >= set(pins)
        ended = run(
            Bubblewrap(),
            environment.python,
            "repro.py",
            files={"repro.py": (case / "repro.py").read_text()},
            reads=environment.reads,
            memory_mb=2048,
            seconds=120,
        )
    assert (ended.how, ended.exit_code) == (How.EXITED, 0), ended.stderr.decode()[-2000:]
    assert ended.stdout.decode() == (case / f"{version}.txt").read_text()
