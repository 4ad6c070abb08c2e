"""A recipe's image is looked up once: all further runs have the very same, wherever its tag leads to meanwhile."""

import subprocess
from contextlib import suppress

import pytest

from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.images import is_own_number, is_pinned, repository
from annotator.clients.sandboxes.job import Refused
from annotator.reproduction import leases
from annotator.reproduction.replaying import folder_of, write
from annotator.reproduction.rows import Rows
from annotator.reproduction.running import carry_out
from annotator.reproduction.workshop import Workshop
from tests.factories.reproduction import claimed, make_series
from tests.integration.sandboxes.test_containers import small_image
from tests.services.registry import registry

pytestmark = [pytest.mark.once, pytest.mark.xdist_group("engine")]
SHOWS = {"bin/python3": "#!/bin/sh\ncat /etc/made\n"}


@pytest.fixture
def place(engine, tmp_path):
    return Workshop(environments=Environments(folder=tmp_path), sandboxes={"docker": engine})


@pytest.fixture
def published(engine):
    """Gives the image that says something under a name, as a registry has it and this machine does not."""
    with registry() as host:
        name = f"{host}/odd/image:1"

        def publish(says: str) -> str:
            small_image(engine, made=f"{says}\n", name=name, also=SHOWS)
            engine.engine.told("push", "--quiet", name)
            forget(engine, name)
            return name

        yield publish
        forget(engine, name)


def forget(engine, name):
    with suppress(Refused):
        engine.engine.told("rmi", "--force", engine.engine._number(name))


def ran(series, place, *, environment="buggy"):
    run = series.runs.filter(state="waiting", environment=environment).first()
    work = claimed(run)
    assert carry_out(work, Rows(), place)
    run.refresh_from_db()
    return run


def in_images(bug, by, name):
    image = {"image": name, "python": ""}
    return make_series(bug, by, buggy=image, fixed=image, repeats=2)


def test_runs_have_the_image_that_the_first_one_found(transactional_db, engine, place, published, study, bugs, ada):
    name = published("NaN")
    series = in_images(bugs[0], ada, name)
    first = ran(series, place)
    assert (first.outcome, first.stdout) == ("bug", "NaN\n"), first.said
    assert is_pinned(first.locked.image, of=name) and not is_own_number(first.locked.image)
    published("fine")  # under the same tag
    second = ran(series, place)
    assert (second.stdout, second.locked) == ("NaN\n", first.locked)
    other = ran(series, place, environment="fixed")
    assert (other.stdout, other.locked.image != first.locked.image) == ("fine\n", True)


def test_the_replay_folder_begins_from_the_digest(
    transactional_db, engine, place, published, study, bugs, ada, tmp_path
):
    name = published("NaN")
    series = in_images(bugs[0], ada, name)
    run = ran(series, place)
    published("fine")
    files = folder_of(series.recipe)
    assert f"FROM {run.locked.image} AS in-buggy\n" in files["Dockerfile"].decode()
    assert run.locked.image in files["README.md"].decode()
    write(files, tmp_path / "replay")
    done = subprocess.run(
        ["python3", "replay.py"], cwd=tmp_path / "replay", capture_output=True, text=True, check=False
    )
    assert done.stdout.count("the bug shows\nNaN\n") == 2, done.stdout + done.stderr


def test_an_image_of_no_registry_is_locked_by_its_number(transactional_db, engine, place, study, bugs, ada):
    number = small_image(engine, made="NaN\n", name="concord-own:1", also=SHOWS)
    series = in_images(bugs[0], ada, "concord-own:1")
    assert ran(series, place).locked.image == number
    small_image(engine, made="fine\n", name="concord-own:1", also=SHOWS)
    assert ran(series, place).stdout == "NaN\n"
    with pytest.raises(Refused, match="push it to one"):
        engine.engine.image(f"sha256:{'0' * 64}")


def test_an_image_that_a_host_tells_is_handed_on_only_where_it_is_the_recipes(study, bugs, ada):
    run = in_images(bugs[0], ada, "python:3.8").runs.first()
    digest = f"sha256:{'a' * 64}"
    told = {f"docker.io/library/python@{digest}": True, f"python@{digest}": True, "python:3.8": False, digest: True}
    told |= {
        f"{place}@{digest}": False for place in ("evil/x", "evil.example/python", "evil/python", "localhost/python")
    }
    assert {image: bool(leases._pinned(image, run)) for image in told} == told


@pytest.mark.parametrize(
    ("image", "of"),
    [("python", "python"), ("a:5000/b/c:1", "a:5000/b/c"), ("a:5000/c", "a:5000/c"), ("b/c@sha256:0", "b/c")],
)
def test_the_repository_of_an_image(image, of):
    assert repository(image) == of
