"""Packages that were published as source alone: built in a sandbox, whatever their authors wrote."""

import contextlib
import hashlib
import io
import os
import socket
import sys
import tarfile
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from annotator.clients.environments.index import Index
from annotator.clients.environments.interpreters import find
from annotator.clients.environments.sources import Sources
from annotator.clients.environments.spec import NotInstalled, Spec
from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from tests.integration.environments.inside import inside

pytestmark = pytest.mark.once
PLAIN = "from setuptools import setup; setup(name='{name}', version='{version}', py_modules=['found'])"
HOSTILE = """
import os, socket
def attempt(act):
    try:
        act()
        return "done"
    except Exception as error:
        return type(error).__name__
tried = dict(
    secret=attempt(lambda: open({secret!r}).read()),
    write=attempt(lambda: open({outside!r}, "w").write("x")),
    reach=attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 2)),
    environment=attempt(lambda: os.environ["DATABASE_URL"]),
)
open("found.py", "w").write("tried = %r" % tried)
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Published:
    """A package index on loopback."""

    def __init__(self, folder, port):
        self.folder, self.address = folder, f"http://127.0.0.1:{port}"

    def publish(self, name, version, setup, *, digest=None, also=()):
        content = packed(f"{name}-{version}", setup)
        place = self.folder / name
        place.mkdir()
        (place / f"{name}-{version}.tar.gz").write_bytes(content)
        digest = digest or hashlib.sha256(content).hexdigest()
        links = [
            f'<a href="{name}-{version}.tar.gz#sha256={digest}">x</a>',
            *(f'<a href="{file}">x</a>' for file in also),
        ]
        (place / "index.html").write_text("\n".join(links))
        return digest


def packed(folder, setup):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in (("setup.py", setup), ("found.py", "tried = {}"), ("PKG-INFO", "Metadata-Version: 1.0\n")):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return file.getvalue()


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield Published(folder, server.server_port)
    server.shutdown()
    server.server_close()


@pytest.fixture
def sources(environments, tmp_path, index):
    return Sources(
        folder=tmp_path / "wheels", sandbox=Bubblewrap(), ready=environments._tools, index=Index(index.address)
    )


def make(sources, name="odd", version="1.0", allowed=(), stopped=lambda: False):
    here = find("")
    sources.make(name, version, interpreter=here, allowed=allowed, stopped=stopped)
    (wheel,) = sources.folder.glob("*/*.whl")
    return wheel


def test_lock_names_the_source_and_the_environment_has_its_wheel(fresh):
    lock = fresh.lock(Spec(requirements=("docopt==0.6.2",)))
    assert (
        lock.text
        == "docopt==0.6.2 \\\n    --hash=sha256:49b3a825280bd66b3aa83585ef59c4a8c82f2c8a522dbe754a8bc8d08c85c491\n"
    )
    with fresh.ready(lock) as environment:
        assert inside(environment, "import docopt; print(docopt.__version__)") == "0.6.2"
        assert environment.installed == {"docopt": "0.6.2"}


def test_lock_of_another_machine_is_built_here(environments, fresh):
    lock = environments.lock(Spec(requirements=("docopt==0.6.2",)))
    assert not (fresh.folder / "wheels").exists()
    with fresh.ready(lock) as environment:
        assert environment.installed == {"docopt": "0.6.2"}


def test_what_a_hostile_author_wrote_stays_in_the_sandbox(sources, index, tmp_path, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    secret, outside = tmp_path / "secret.sqlite3", tmp_path / "outside"
    secret.write_text("rows")
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        names = {"secret": str(secret), "outside": str(outside), "port": listening.getsockname()[1]}
        index.publish("odd", "1.0", HOSTILE.format(**names) + PLAIN.format(name="odd", version="1.0"))
        with zipfile.ZipFile(make(sources)) as wheel:
            namespace = {}
            exec(wheel.read("found.py"), namespace)
    assert namespace["tried"] == {
        "secret": "FileNotFoundError",
        "write": "FileNotFoundError",
        "reach": "ConnectionRefusedError",
        "environment": "KeyError",
    }
    assert not outside.exists()


def test_source_that_does_not_build_is_said(sources, index):
    index.publish("odd", "1.0", "raise SystemExit('no such luck')")
    with pytest.raises(NotInstalled, match=r"odd 1.0 comes as source alone, and could not be built.*no such luck"):
        make(sources)


def test_source_that_builds_no_wheel_of_its_own_is_said(sources, index):
    index.publish("odd", "1.0", "import os; os._exit(0)")
    with pytest.raises(NotInstalled, match=r"odd 1.0 comes as source alone|made no wheel"):
        make(sources)


def test_source_with_another_hash_than_the_index_says_is_refused(sources, index):
    index.publish("odd", "1.0", PLAIN.format(name="odd", version="1.0"), digest="0" * 64)
    with pytest.raises(NotInstalled, match="not what the package index says"):
        make(sources)


def test_source_with_another_hash_than_was_locked_is_refused(sources, index):
    index.publish("odd", "1.0", PLAIN.format(name="odd", version="1.0"))
    with pytest.raises(NotInstalled, match="no longer the one that was locked"):
        make(sources, allowed=["1" * 64])


def test_package_with_wheels_for_other_pythons_is_not_built(sources, index):
    index.publish("odd", "1.0", PLAIN.format(name="odd", version="1.0"), also=["odd-1.0-cp27-none-any.whl"])
    with pytest.raises(NotInstalled, match="has wheels, but none for this Python"):
        make(sources)


def test_package_that_is_not_there_is_said(sources):
    with pytest.raises(NotInstalled, match="does not give /odd/") as raised:
        make(sources)
    assert not raised.value.may_pass


def test_source_is_not_built_without_a_sandbox(tmp_path):
    with pytest.raises(NotInstalled, match="no sandbox here to build it in"):
        Environments(folder=tmp_path).lock(Spec(requirements=("docopt==0.6.2",)))


def test_stopped_while_it_is_built(sources, index):
    index.publish("odd", "1.0", f"import time; time.sleep(60)  # {os.getpid()} {sys.version_info}")
    with pytest.raises(NotInstalled, match="stopped"):
        make(sources, stopped=lambda: True)
