"""What is still running on this machine."""

import time
from pathlib import Path


def running(mark: str) -> list[str]:
    """Commands on this machine that name the mark, but for our own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words[1:]:
            found.append(path.parent.name)
    return found


def eventually(holds, seconds=60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False
