"""Who started something outside our own processes, so that whatever a killed worker left behind is found and removed."""

import os
import time
from pathlib import Path

SLACK = 600  # seconds after its time is over in which its own worker may still clear it away


def here() -> str:
    """This process, among those that can see it: machine and process numbers, the number, when it began."""
    return f"{_realm()}:{os.getpid()}:{_began(os.getpid())}"


def until(seconds: float) -> float:
    """When something that may take so long is surely over, in seconds since 1970."""
    return time.time() + seconds + SLACK


def is_gone(owner: str, *, until: float) -> bool:
    """Its process is no more, where that can be seen from here; else its time is over."""
    realm, _, rest = owner.partition(":")
    pid, _, began = rest.partition(":")
    ended = realm == _realm() and pid.isdigit() and _began(int(pid)) != began
    return ended or until < time.time()


def _realm() -> str:
    """Among which processes a process number means something: two containers with workers count for themselves."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}".replace(":", "")


def _began(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
