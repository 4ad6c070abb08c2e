"""Control groups: what holds a whole tree of processes to its memory and its number, where this machine lets us.

Version 2 where the worker's own group, or one above it, is ours to divide; version 1 where its memory and pids
hierarchies are. A group's name begins with the number of the process that made it, so that those of a process that
was killed are found and removed.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MOUNTED = re.compile(r"^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$")
OURS = re.compile(r"^concord-(\d+)-")
MB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Places:
    """Folders in which a group for one run can be made; the same one twice under version 2."""

    version: int
    memory: Path
    processes: Path
    times: Path | None = None  # where version 1 counts processor time

    @property
    def folders(self) -> list[Path]:
        return list(dict.fromkeys(folder for folder in (self.memory, self.processes, self.times) if folder))


@dataclass(frozen=True, kw_only=True)
class Group(Places):
    """One that was made."""

    @property
    def doors(self) -> list[str]:
        """Files into which a process writes 0 to come in."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def was_full(self) -> bool:
        """The kernel killed something in it for want of memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _table(self.memory / name).get("oom_kill", 0) > 0

    def held_mb(self) -> float:
        """What its processes hold now, without files that the kernel keeps for whoever reads them next."""
        names = ("anon", "shmem") if self.version == 2 else ("total_rss", "total_shmem")
        held = _table(self.memory / "memory.stat")
        return sum(held.get(name, 0) for name in names) / MB

    def most_mb(self) -> float:
        """The most they held, asked once they are gone: what is still there are files kept for the next reader."""
        version2 = self.version == 2
        most = _number(self.memory / ("memory.peak" if version2 else "memory.max_usage_in_bytes"))
        left = _number(self.memory / ("memory.current" if version2 else "memory.usage_in_bytes"))
        return max(0, most - left) / MB

    def cpu_seconds(self) -> float | None:
        """Of everything that ever ran in it."""
        if self.version == 2:
            return _table(self.memory / "cpu.stat").get("usage_usec", 0) / 1e6
        return _number(self.times / "cpuacct.usage") / 1e9 if self.times else None

    def kill(self) -> None:
        with suppress(OSError):
            (self.memory / "cgroup.kill").write_text("1")  # version 2, Linux 5.14


@lru_cache
def places() -> Places | None:
    """Where groups can be made here, found out by making one; none where the machine keeps them to itself."""
    mounts = _mounts()
    for found in (_version2(mounts), _version1(mounts)):
        if found and _can_make(found):
            return found
    return None


def of(pid: int) -> Group | None:
    """The group that another has put a process into; none where it is in that of all."""
    mounts = _mounts()
    folders = {name: _folder_of(pid, name, mounts) for name in ("memory", "pids", "cpuacct", "")}
    if folders["memory"] and folders["pids"]:
        return Group(version=1, memory=folders["memory"], processes=folders["pids"], times=folders["cpuacct"])
    one = folders[""]
    return Group(version=2, memory=one, processes=one) if one and (one / "memory.stat").exists() else None


def _folder_of(pid: int, controller: str, mounts: list[tuple[str, str, str, str]]) -> Path | None:
    path = _own(controller, pid)
    for root, place, kind, options in mounts:
        is_it = kind == "cgroup2" if not controller else kind == "cgroup" and controller in options.split(",")
        if is_it and path != "/":
            return _below(place, root, path)
    return None


@contextmanager
def group(name: str, *, memory_mb: int, processes: int) -> Iterator[Group | None]:
    """A group for one run, gone afterwards; none where this machine has no place for it."""
    found = places()
    if not found:
        yield None
        return
    _sweep(found)
    made = _made(found, f"concord-{os.getpid()}-{name}")
    try:
        _bound(made, memory_mb * MB, processes)
        yield made
    finally:
        made.kill()
        _remove(made)


def _made(found: Places, name: str) -> Group:
    made = Group(
        version=found.version,
        memory=found.memory / name,
        processes=found.processes / name,
        times=found.times / name if found.times else None,
    )
    for folder in made.folders:
        folder.mkdir()
    return made


def _bound(made: Group, memory: int, processes: int) -> None:
    (made.processes / "pids.max").write_text(str(processes))
    if made.version == 2:
        (made.memory / "memory.max").write_text(str(memory))
        with suppress(OSError):  # a kernel without swap
            (made.memory / "memory.swap.max").write_text("0")
        (made.memory / "memory.oom.group").write_text("1")
        return
    (made.memory / "memory.limit_in_bytes").write_text(str(memory))
    with suppress(OSError):
        (made.memory / "memory.memsw.limit_in_bytes").write_text(str(memory))


def _remove(made: Group) -> None:
    for folder in made.folders:
        with suppress(OSError):
            folder.rmdir()


def _sweep(found: Places) -> None:
    """Remove what a killed worker left; an occupied group stays, and its processes die with their parent."""
    for parent in found.folders:
        for folder in parent.glob("concord-*"):
            owner = OURS.match(folder.name)
            if owner and not Path("/proc", owner[1]).exists():
                with suppress(OSError):
                    folder.rmdir()


def _can_make(found: Places) -> bool:
    try:
        made = _made(found, f"concord-{os.getpid()}-trial-{os.urandom(4).hex()}")
    except OSError:
        return False
    try:
        _bound(made, 64 * MB, 16)
    except OSError:
        return False
    finally:
        _remove(made)
    return True


def _mounts() -> list[tuple[str, str, str, str]]:
    """(root, place, kind, options) of every hierarchy."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [found.groups() for line in lines if (found := MOUNTED.match(line))]  # type: ignore[misc]  # four groups


def _own(controller: str, pid: int | str = "self") -> str:
    """A process's group in the hierarchy of a controller; of version 2 by the empty name."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return "/"
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _version2(mounts: list[tuple[str, str, str, str]]) -> Places | None:
    for root, place, kind, _ in mounts:
        if kind == "cgroup2":
            own = _below(place, root, _own(""))
            return next((found for folder in _upwards(own, Path(place)) if (found := _divided(folder))), None)
    return None


def _divided(folder: Path) -> Places | None:
    """A group of which the kernel lets us bound the children."""
    wanted = {"memory", "pids"}
    control = folder / "cgroup.subtree_control"
    try:
        if not wanted <= set(control.read_text().split()):
            control.write_text("+memory +pids")
    except OSError:
        return None
    found = Places(version=2, memory=folder, processes=folder)
    return found if _can_make(found) else None


def _version1(mounts: list[tuple[str, str, str, str]]) -> Places | None:
    folders = {}
    for root, place, kind, options in mounts:
        for controller in ("memory", "pids", "cpuacct"):
            if kind == "cgroup" and controller in options.split(","):
                folders[controller] = _below(place, root, _own(controller))
    if not {"memory", "pids"} <= set(folders):
        return None
    return Places(version=1, memory=folders["memory"], processes=folders["pids"], times=folders.get("cpuacct"))


def _below(place: str, root: str, path: str) -> Path:
    inside = path.removeprefix(root.rstrip("/")) if path.startswith(root) else path
    return Path(place + "/" + inside.lstrip("/"))


def _upwards(folder: Path, top: Path) -> list[Path]:
    return [one for one in (folder, *folder.parents) if one.is_relative_to(top)]


def _table(path: Path) -> dict[str, int]:
    try:
        pairs = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0
