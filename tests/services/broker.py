"""A Valkey server of one's own, on a unix socket in a temporary folder."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ops import processes


@contextmanager
def broker() -> Iterator[str]:
    """Start one and yield its REDIS_URL."""
    folder = Path(tempfile.mkdtemp(prefix="concord-broker-", dir="/tmp"))
    path = processes.socket_path(folder)
    server = processes.start(processes.broker_command(folder, path))
    try:
        if not processes.wait_for(path, server):
            raise RuntimeError(f"the broker did not start: {(folder / 'log').read_text()}")
        yield f"unix://{path}"
    finally:
        processes.stop([server])
        shutil.rmtree(folder, ignore_errors=True)
