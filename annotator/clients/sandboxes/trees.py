"""Processes below one, and what they use: for machines that let us make no control groups."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def below(root: int) -> list[int]:
    """A process and all that descend from it, as far as they can be seen."""
    found = [root]
    for pid in found:
        found += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    """Of all its threads; none of a process or thread that has ended meanwhile."""
    found: list[int] = []
    for thread in _threads(pid):
        try:
            found += [int(child) for child in (thread / "children").read_text().split()]
        except OSError:
            continue
    return found


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def held_mb(root: int) -> float:
    """Their memory together, what several share counted once between them."""
    return sum(_held_kb(pid) for pid in below(root)) / 1024


def cpu_seconds(root: int) -> float:
    """Their processor time, that of ended ones with whoever waited for them."""
    return sum(_ticks(pid) for pid in below(root)) / TICKS


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])  # utime, stime, cutime, cstime


def _held_kb(pid: int) -> int:
    for name, start in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = Path(f"/proc/{pid}/{name}").read_text().splitlines()
        except OSError:
            continue
        return sum(int(line.split()[1]) for line in lines if line.startswith(start))
    return 0
