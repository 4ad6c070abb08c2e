"""docker or podman, on the command line: what it can hold, its images, and the containers that were left."""

import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotator.clients.sandboxes import owners
from annotator.clients.sandboxes.bubble import SYSTEM
from annotator.clients.sandboxes.images import is_own_number, is_pinned
from annotator.clients.sandboxes.job import Refused

LABEL = "concord.worker"
UNTIL = "concord.until"
HOST = [Path("/", name) for name in SYSTEM]
EMPTY = "concord-empty"
CDI = (Path("/etc/cdi"), Path("/var/run/cdi"))


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Named by its command line; by none, the first that answers."""

    command: tuple[str, ...] = ()

    @property
    def line(self) -> tuple[str, ...]:
        """Raises Refused where there is none."""
        return self.command or _answering()

    @property
    def is_podman(self) -> bool:
        return "podman" in Path(self.line[0]).name

    @property
    def user(self) -> int:
        """Who scripts run as where the engine runs as nobody special and can give few numbers; else 0: any."""
        return 1000 if self.is_podman and os.geteuid() != 0 else 0

    def refuse_weak(self, *, gpus: bool) -> None:
        """Raise Refused where this engine bounds less than it is asked to."""
        can = _podman_can(self.line) if self.is_podman else _docker_can(self.line)
        for what in ("memory", "pids", "seccomp"):
            if not can[what]:
                raise Refused(f"{self.line[0]} on this machine does not hold containers to a bound of {what}")
        if gpus and not can["gpus"]:
            raise Refused(f"{self.line[0]} cannot hand out GPUs here: install NVIDIA's container toolkit")

    def told(self, *arguments: str, stdin: bytes = b"", seconds: float = 120) -> str:
        """Raises Refused with what it said."""
        try:
            done = subprocess.run(
                [*self.line, *arguments], input=stdin, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise Refused(f"{self.line[0]} {arguments[0]} did not answer within {seconds:g} seconds") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise Refused(f"{self.line[0]} {arguments[0]}: {said[-1] if said else done.returncode}")
        return done.stdout.decode()

    def started(self, *arguments: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*self.line, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def remove(self, container: str) -> None:
        with suppress(Refused):
            self.told("rm", "--force", "--volumes", container)

    def state(self, container: str) -> dict[str, Any]:
        """Whether it began, its first process, and how it ended."""
        (found,) = json.loads(self.told("inspect", "--type=container", container))
        state = found["State"]
        return {
            "began": not state["StartedAt"].startswith("0001"),
            "first": int(state.get("Pid") or 0),
            "exit_code": int(state.get("ExitCode") or 0),
            "out_of_memory": bool(state.get("OOMKilled")),
            "error": state.get("Error") or "",
        }

    def devices(self, names: Iterable[str]) -> list[str]:
        if self.is_podman:
            return [f"--device=nvidia.com/gpu={name}" for name in names]
        return [f'--gpus="device={",".join(names)}"']

    def own_bounds(self) -> list[str]:
        """podman asks for more processes than some machines allow anybody; what a run may have is bounded elsewhere."""
        return ["--ulimit=nproc=4096:4096"] if self.is_podman else []

    def image(self, asked: str) -> str:
        """By its number: the one asked for, fetched if need be; for none, the empty one."""
        if not asked:
            return _empty(self)
        if asked.startswith("-"):
            raise Refused(f"{asked!r} is no name of an image")
        try:
            return self._number(asked)
        except Refused:
            if is_own_number(asked):
                raise Refused(f"no registry has the image {asked[:19]}… that it ran in first: push it to one") from None
            self.told("pull", "--quiet", asked, seconds=1800)
            return self._number(asked)

    def pinned(self, asked: str) -> str:
        """By the digest under which its registry gives it; where none does, by its own number."""
        number = self.image(asked)
        listed = json.loads(self.told("image", "inspect", "--format={{json .RepoDigests}}", number)) or []
        return next((one for one in listed if is_pinned(one, of=asked)), number)

    def _number(self, name: str) -> str:
        return self.told("image", "inspect", "--format={{.Id}}", name).strip()

    def sweep(self) -> None:
        """Remove containers of workers that are gone: of this machine by their process, of all by their time."""
        form = f'{{{{.ID}}}}\t{{{{.Label "{LABEL}"}}}}\t{{{{.Label "{UNTIL}"}}}}'
        for line in self.told("ps", "--all", f"--filter=label={LABEL}", f"--format={form}").splitlines():
            container, worker, until = line.split("\t")
            if owners.is_gone(worker, until=float(until or 0)):
                self.remove(container)


def labels(seconds: float) -> list[str]:
    """By which what is left over is found."""
    return [f"{LABEL}={owners.here()}", f"{UNTIL}={owners.until(seconds):.0f}"]


def _answering() -> tuple[str, ...]:
    tried = []
    for program in ("docker", "podman"):
        if not shutil.which(program):
            continue
        said = _answer((program,))
        if not said:
            return (program,)
        tried.append(f"{program}: {said}")
    if tried:
        raise Refused(f"no container engine answers ({'; '.join(tried)})")
    raise Refused("neither docker nor podman is here: install one (Debian, Ubuntu: apt install docker.io)")


def _answer(line: tuple[str, ...]) -> str:
    """Nothing where it answers, else why not."""
    try:
        done = subprocess.run([*line, "info"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1][:200] if said else f"exit code {done.returncode}"


@lru_cache(maxsize=8)
def _docker_can(line: tuple[str, ...]) -> dict[str, bool]:
    told = json.loads(Engine(command=line).told("info", "--format={{json .}}"))
    return {
        "memory": bool(told.get("MemoryLimit")),
        "pids": bool(told.get("PidsLimit")),
        "seccomp": any("seccomp" in option for option in told.get("SecurityOptions") or []),
        "gpus": "nvidia" in (told.get("Runtimes") or {}) or (bool(told.get("CDISpecDirs")) and _has_cdi()),
    }


@lru_cache(maxsize=8)
def _podman_can(line: tuple[str, ...]) -> dict[str, bool]:
    host = json.loads(Engine(command=line).told("info", "--format=json"))["host"]
    controllers = host.get("cgroupControllers") or []
    version1 = host.get("cgroupVersion") == "v1" and os.geteuid() == 0  # which lists none
    return {
        "memory": "memory" in controllers or version1,
        "pids": "pids" in controllers or version1,
        "seccomp": bool(host.get("security", {}).get("seccompEnabled")),
        "gpus": _has_cdi(),
    }


def _has_cdi() -> bool:
    return any(list(folder.glob("nvidia*")) for folder in CDI)


@lru_cache(maxsize=8)
def _empty(engine: Engine) -> str:
    """An image that holds nothing but the places onto which this machine's folders are bound."""
    with suppress(Refused):
        return engine._number(f"{EMPTY}:{_layout()}")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in (*HOST, *(Path("/", name) for name in ("etc", "job", "proc", "sys", "dev", "tmp"))):
            member = tarfile.TarInfo(path.name)
            member.type, member.mode = tarfile.DIRTYPE, 0o1777 if path.name == "tmp" else 0o755
            if path.is_symlink():
                member.type, member.linkname = tarfile.SYMTYPE, str(path.readlink())
            if path.exists():
                archive.addfile(member)
    return engine.told("import", "-", f"{EMPTY}:{_layout()}", stdin=packed.getvalue()).strip()


def _layout() -> str:
    """Which of the system's folders are links here: another machine's may be others."""
    return "-".join(["v2", *(path.name for path in HOST if path.is_symlink())])
