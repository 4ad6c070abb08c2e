"""A container engine: the one that answers, or a Docker daemon of one's own in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ANSWERS_WITHIN = 120.0
DAEMON = (
    "dockerd",
    "--iptables=false",
    "--ip6tables=false",
    "--bridge=none",
    "--default-ulimit=nofile=1024:1024",
)


def answers(environment: dict[str, str] | None = None) -> bool:
    return any(
        shutil.which(program)
        and subprocess.run([program, "info"], check=False, capture_output=True, env=environment).returncode == 0
        for program in ("docker", "podman")
    )


def program() -> str | None:
    """What would be started, or anything that runs already."""
    return shutil.which("dockerd") or ("running" if answers() else None)


@contextmanager
def engine() -> Iterator[dict[str, str]]:
    """Yields what the environment has to hold for the engine to be found."""
    if answers():
        yield {}
        return
    folder = Path(tempfile.mkdtemp(prefix="concord-engine-", dir="/tmp"))
    address = f"unix://{folder}/docker.sock"
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen([*DAEMON, *places(folder), f"--host={address}"], stdout=log, stderr=log)
    try:
        told = {"DOCKER_HOST": address}
        if not wait_for(lambda: answers(os.environ | told), daemon):
            raise RuntimeError(f"the Docker daemon did not start: {(folder / 'log').read_text()[-2000:]}")
        yield told
    finally:
        daemon.terminate()
        daemon.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def places(folder: Path) -> list[str]:
    return [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]


def wait_for(holds, process: "subprocess.Popen[bytes]") -> bool:
    end = time.monotonic() + ANSWERS_WITHIN
    while time.monotonic() < end and process.poll() is None:
        if holds():
            return True
        time.sleep(0.1)
    return False
