"""Environments: locked, built once, kept by content, removed by least use. Their packages come from the package index."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from annotator.clients.environments.setup import _take_over
from annotator.clients.environments.spec import PLACE, NoInterpreter, NotInstalled, Spec
from annotator.clients.environments.store import READY, Environments
from tests.integration.environments.inside import inside

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.once
SMALL = Spec(requirements=("six==1.16.0",))


def test_lock_holds_exact_versions_with_hashes(environments):
    lock = environments.lock(Spec(requirements=("python-dateutil<2.9", "six==1.16.0")))
    assert "six==1.16.0 \\\n    --hash=sha256:" in lock.text
    assert "python-dateutil==2.8.2 \\" in lock.text
    assert lock.python == ".".join(map(str, sys.version_info[:3]))
    assert len(lock.digest) == 64


def test_script_finds_the_packages_and_no_others(environments):
    with environments.ready(environments.lock(SMALL)) as environment:
        assert environment.installed == {"six": "1.16.0"}
        told = inside(environment, "import six, sys; print(six.__version__, six.__file__.startswith(sys.prefix))")
        assert told == "1.16.0 True"
        with pytest.raises(AssertionError, match="No module named 'django'"):
            inside(environment, "import django")


def test_built_once_and_then_at_hand_within_100_ms(environments):
    lock = environments.lock(SMALL)
    with environments.ready(lock) as first:
        built = Path(first.reads[PLACE], READY).stat().st_ino
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        with environments.ready(lock) as again:
            seconds.append(time.perf_counter() - started)
    assert Path(again.reads[PLACE], READY).stat().st_ino == built
    assert min(seconds) < 0.1


def test_environments_share_files_by_hard_links(environments):
    with (
        environments.ready(environments.lock(SMALL)) as one,
        environments.ready(environments.lock(Spec(requirements=("six==1.16.0", "idna==3.7")))) as two,
    ):
        files = [next(environment.reads[PLACE].glob("lib/python*/site-packages/six.py")) for environment in (one, two)]
        assert one.reads[PLACE] != two.reads[PLACE]
        assert files[0].stat().st_ino == files[1].stat().st_ino


def test_two_builders_at_once_build_one(fresh):
    lock = fresh.lock(SMALL)
    places = []

    def build():
        with fresh.ready(lock) as environment:
            places.append(environment.reads[PLACE])

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(places) == 4 and len(set(places)) == 1
    assert [path.name for path in fresh.folder.iterdir() if path.is_dir() and not path.is_symlink()] == [places[0].name]


def test_killed_builder_leaves_nothing_half(fresh):
    builder = f"""
import os, signal
from pathlib import Path
from annotator.clients.environments import store
from annotator.clients.environments.spec import Spec
store._installed = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
environments = store.Environments(folder=Path({str(fresh.folder)!r}))
with environments.ready(environments.lock(Spec(requirements=("six==1.16.0",)))): pass
"""
    killed = subprocess.run([sys.executable, "-c", builder], cwd=ROOT, check=False)
    assert killed.returncode == -9
    assert len(list(fresh.folder.glob("half-*"))) == 1
    with fresh.ready(fresh.lock(SMALL)) as environment:
        assert inside(environment, "import six; print(six.__version__)") == "1.16.0"
    assert not list(fresh.folder.glob("half-*"))


def test_least_recently_used_is_removed_first_and_what_is_in_use_stays(fresh):
    locks = [fresh.lock(Spec(requirements=(f"idna=={version}",))) for version in ("3.5", "3.6", "3.7")]
    for lock in locks:
        with fresh.ready(lock):
            pass
    now = time.time()
    for age, lock in zip((10, 30, 20), locks, strict=True):
        os.utime(fresh.folder / lock.place / READY, (now - age, now - age))
    with fresh.ready(locks[1]):  # the oldest, now used again
        size = sum(path.lstat().st_size for path in (fresh.folder / locks[0].place).rglob("*")) / 1024**2
        assert fresh.prune(keep_mb=size * 2.5 + 0.2) == [locks[2].place]
        assert fresh.prune(keep_mb=0) == [locks[0].place]
        assert (fresh.folder / locks[1].place / READY).exists()
    with fresh.ready(locks[2]) as built_again:
        assert built_again.installed == {"idna": "3.7"}


def test_digest_is_of_content(environments):
    lock = environments.lock(SMALL)
    assert environments.lock(SMALL).digest == lock.digest
    others = [
        Spec(requirements=("idna==3.7",)),
        Spec(requirements=SMALL.requirements, variables={"A": "1"}),
        Spec(requirements=SMALL.requirements, setup=("true",)),
        Spec(image="python:3.8"),
    ]
    assert len({lock.digest, *(environments.lock(spec).digest for spec in others)}) == 5


def test_variables_are_part_of_it_and_its_folder_is_shared(environments):
    spec = Spec(requirements=SMALL.requirements, variables={"KERAS_BACKEND": "jax"})
    with environments.ready(environments.lock(spec)) as environment:
        assert inside(environment, "import os; print(os.environ['KERAS_BACKEND'])") == "jax"
    assert environments.lock(spec).place == environments.lock(SMALL).place


def test_image_is_taken_as_it_is(environments):
    with environments.ready(environments.lock(Spec(image="python:3.8-slim"))) as environment:
        assert (environment.image, environment.python, environment.reads) == ("python:3.8-slim", "python3", {})
    with pytest.raises(NotInstalled, match="either an image"):
        environments.lock(Spec(image="python:3.8-slim", requirements=("six",)))


@pytest.mark.parametrize("asked", ["3.99", "3.8.999", "/nowhere/python3.8", "three", "3", "-c", "/bin/sh"])
def test_missing_interpreter_is_said_with_what_there_is(environments, asked):
    with pytest.raises(NoInterpreter, match=r"no Python .* is here; found: .*3\.\d+.*Install it"):
        environments.lock(Spec(python=asked))


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("six==99.99", "no version of six==99.99"),
        ("numpy==1.18.0", "numpy 1.18.0 has wheels, but none for this Python"),
        ("six @ https://example.org/six.whl", "names an address"),
        ("six @ file:///etc/passwd", "names an address"),
        ("-r /etc/passwd", "no requirement"),
        ("--index-url http://example.org", "no requirement"),
        ("six\n--index-url http://example.org", "no requirement"),
        ("git+https://example.org/six", "no requirement"),
        ("./six", "no requirement"),
        ("", "no requirement"),
    ],
)
def test_package_that_cannot_be_had_is_said(environments, requirement, said):
    with pytest.raises(NotInstalled, match=said) as raised:
        environments.lock(Spec(requirements=(requirement,)))
    assert not raised.value.may_pass


def test_network_that_fails_may_pass(environments, monkeypatch, tmp_path):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(NotInstalled) as raised:
        Environments(folder=tmp_path).lock(SMALL)
    assert raised.value.may_pass


def test_lock_with_another_hash_is_not_installed(fresh):
    lock = fresh.lock(SMALL)
    forged = lock.__class__(spec=SMALL, interpreter=lock.interpreter, text=f"six==1.16.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(NotInstalled, match=r"(?i)hash"), fresh.ready(forged):
        pass
    assert not list(fresh.folder.glob("half-*"))


def test_stopped_while_it_is_built(fresh):
    lock = fresh.lock(SMALL)
    with pytest.raises(NotInstalled, match="stopped"), fresh.ready(lock, stopped=lambda: True):
        pass


def test_set_up_commands_change_a_copy_in_a_sandbox(fresh):
    setup = (
        "echo 'def answer(): return 42' > $(echo $VIRTUAL_ENV/lib/python3*/site-packages)/added.py",
        "f=$(ls $VIRTUAL_ENV/lib/python3*/site-packages/six.py); echo 'changed = True' >> $f",
    )
    with (
        fresh.ready(fresh.lock(SMALL)) as plain,
        fresh.ready(fresh.lock(Spec(requirements=SMALL.requirements, setup=setup))) as changed,
    ):
        assert inside(changed, "import added, six; print(added.answer(), six.changed)") == "42 True"
        assert inside(plain, "import six; print(hasattr(six, 'changed'))") == "False"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 7", "exit code 7"),
        ("cat /etc/shadow", "exit code"),
        ("echo x > /usr/bin/x", "Read-only"),
        ("python -c \"import socket; socket.create_connection(('127.0.0.1', 80), 2)\"", "refused.*exit code"),
    ],
)
def test_set_up_command_that_fails_or_reaches_out_is_said(fresh, command, said):
    with (
        pytest.raises(NotInstalled, match=f"set-up commands failed.*{said}") as raised,
        fresh.ready(fresh.lock(Spec(setup=(command,)))),
    ):
        pass
    assert not raised.value.may_pass
    assert not list(fresh.folder.glob("half-*"))


def test_set_up_without_a_sandbox_is_refused(fresh):
    bare = Environments(folder=fresh.folder)
    with pytest.raises(NotInstalled, match="need a sandbox"), bare.ready(bare.lock(Spec(setup=("true",)))):
        pass


@pytest.mark.parametrize(
    "name", ["../out", "/tmp/out", "environment/../../out", "environment", "else/out", "environment/way/out"]
)
def test_hostile_archive_writes_nothing_outside(tmp_path, name):
    import io
    import tarfile

    folder, outside = tmp_path / "environment", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "way").symlink_to(outside)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for kind in (tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, "/etc/passwd", 3 if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(b"out"))
    before = sorted(tmp_path.rglob("*"))
    packed.seek(0)
    with tarfile.open(fileobj=packed) as archive:
        for member in archive:
            _take_over(folder, archive, member)
    assert sorted(tmp_path.rglob("*")) == before
