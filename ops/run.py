"""Run web server, worker, beat and broker on this machine until told to end; nothing outlives this process."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

from ops import processes

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
QUEUES = "default,mining,reproduction,gpu"
QUICK_DEATHS = 3
QUICK = 10.0


class Ended(Exception):
    """SIGTERM or Ctrl-C."""


def fail(sentence: str) -> NoReturn:
    sys.exit(sentence)


def main() -> None:
    end_on_signals()
    var = Path(os.environ.get("CONCORD_VAR") or ROOT / "var").absolute()
    make_folder(var)
    port = wanted_port()
    lock = hold(var, port)
    web_socket = bind(port)
    environment = surroundings(var, web_socket)
    children = Children(environment)
    try:
        if not environment.get("REDIS_URL"):
            environment["REDIS_URL"] = start_broker(children, var)
        prepare(environment)
        children.keep("web", [BIN / "gunicorn", "-c", "ops/gunicorn.conf.py"], pass_fds=[web_socket.fileno()])
        wait_until_served(port, children)
        children.keep("worker", worker(var))  # jobs can wait a second longer than people
        print(f"Concord is at http://127.0.0.1:{port}/ – end it with Ctrl-C", flush=True)
        children.watch()
    except Ended:
        print("Ending …", flush=True)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        children.end()
        lock.close()


def end_on_signals() -> None:
    def end(number: int, frame: object) -> NoReturn:
        raise Ended

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, end)
    if "MAKELEVEL" in os.environ:
        processes.end_with(os.getppid(), signal.SIGTERM)


def make_folder(var: Path) -> None:
    try:
        var.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        fail(f"Cannot make the folder for data {var} ({error.strerror}): name another by CONCORD_VAR=/path/to/folder.")
    if not os.access(var, os.W_OK):
        fail(f"Cannot write to {var}: make it writable, or name another folder by CONCORD_VAR=/path/to/folder.")


def wanted_port() -> int:
    given = os.environ.get("PORT") or "8000"
    if not given.isdigit() or not 0 < int(given) < 65536:
        fail(f"PORT={given} is no port: give a number from 1 to 65535, such as make run PORT=8001.")
    return int(given)


def hold(var: Path, port: int) -> IO[str]:
    """The lock of one data folder; two brokers on one append-only file would spoil it."""
    lock = (var / "lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        fail(f"Concord already runs on {var} ({lock.read().strip() or 'starting'}): use that, or end it first.")
    lock.truncate(0)
    lock.write(f"process {os.getpid()}, http://127.0.0.1:{port}/")
    lock.flush()
    return lock


def bind(port: int) -> socket.socket:
    """Take the port now and listen once the server is there: plain http is for this machine alone."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", port))
    except PermissionError:
        fail(f"Port {port} may not be used by you: choose one above 1023, such as make run PORT=8001.")
    except OSError:
        fail(f"Port {port} is in use: choose another, such as make run PORT={port + 1 if port < 65535 else 8001}.")
    return taken


def surroundings(var: Path, web_socket: socket.socket) -> dict[str, str]:
    chosen = {
        "CONCORD_VAR": str(var),
        "BIND": f"fd://{web_socket.fileno()}",
        "DJANGO_SETTINGS_MODULE": "annotator.settings",
    }
    usual = {"MALLOC_ARENA_MAX": "2", "PYTHONWARNINGS": "ignore:You're running the worker with superuser"}
    return usual | dict(os.environ) | chosen


def start_broker(children: "Children", var: Path) -> str:
    folder = var / "broker"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = processes.socket_path(folder)
    path.unlink(missing_ok=True)
    broker = children.keep("broker", processes.broker_command(folder, path))
    if not processes.wait_for(path, broker):
        fail(f"The broker did not start; {folder / 'log'} says why.")
    children.socket = path
    return f"unix://{path}"


def prepare(environment: dict[str, str]) -> None:
    """Database, demo study and static files, in one process."""
    child = processes.start([sys.executable, "-m", "ops.prepare"], environment=environment, cwd=ROOT)
    try:
        if child.wait():
            fail("Preparing the database failed; the lines above say why. Nothing was started.")
    finally:
        processes.stop([child])


def worker(var: Path) -> list[str | Path]:
    """Beat runs in it as a thread; without checks it need not load the pages, 25 MB."""
    celery: list[str | Path] = [BIN / "celery", "--skip-checks", "--quiet", "-A", "annotator", "worker"]
    lean = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    work = ["-P", "threads", "-c", "2", "-Q", QUEUES]
    return [*celery, *work, "--beat-thread", "-s", str(var / "beat"), *lean]


def wait_until_served(port: int, children: "Children") -> None:
    while True:
        children.must_live()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


@dataclass
class Child:
    name: str
    command: Sequence[str | Path]
    options: dict[str, Any]
    process: processes.Process
    started: float
    quick_deaths: int = 0


@dataclass
class Children:
    """The processes that run together; one that ends by itself is started again."""

    environment: dict[str, str]
    socket: Path | None = None
    all: list[Child] = field(default_factory=list)

    def keep(self, name: str, command: Sequence[str | Path], **options: Any) -> processes.Process:
        process = processes.start(command, environment=self.environment, cwd=ROOT, **options)
        self.all.append(Child(name, command, options, process, time.monotonic()))
        return process

    def watch(self) -> NoReturn:
        while True:
            self.check()
            time.sleep(0.5)

    def must_live(self) -> None:
        for child in self.all:
            if child.process.poll() is not None:
                fail(f"The {child.name} ended as soon as it started; the lines above say why.")

    def check(self) -> None:
        for child in self.all:
            if child.process.poll() is not None:
                self.start_again(child)

    def start_again(self, child: Child) -> None:
        lived = time.monotonic() - child.started
        child.quick_deaths = child.quick_deaths + 1 if lived < QUICK else 0
        if child.quick_deaths >= QUICK_DEATHS:
            fail(f"The {child.name} ended {QUICK_DEATHS} times within seconds; the lines above say why.")
        print(
            f"The {child.name} ended (exit {child.process.returncode}); starting it again.", file=sys.stderr, flush=True
        )
        child.process = processes.start(child.command, environment=self.environment, cwd=ROOT, **child.options)
        child.started = time.monotonic()

    def end(self) -> None:
        """The broker last: the others may still have something to put there."""
        brokers = [child.process for child in self.all if child.name == "broker"]
        processes.stop([child.process for child in self.all if child.process not in brokers])
        processes.stop(brokers)
        if self.socket and self.socket.parent.parent == Path("/tmp"):
            shutil.rmtree(self.socket.parent, ignore_errors=True)


if __name__ == "__main__":
    try:
        main()
    except Ended:
        pass
    except subprocess.SubprocessError as error:
        fail(f"Could not start: {error}")
