"""The Pythons of this machine: on PATH, and among pyenv's versions."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
PROGRAM = re.compile(r"(python|pypy)[0-9.]*")
ASK = (
    "import json, sys; print(json.dumps(['%d.%d.%d' % sys.version_info[:3], sys.base_prefix, sys.implementation.name]))"
)
OLDEST = (3, 6)  # what uv makes environments for


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    path: Path
    version: str  # 3.8.18
    base: Path  # the folder of its library
    kind: str = "cpython"

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split("."))


def find(asked: str) -> Interpreter | None:
    """By version ("3.8", "3.8.18") or by full path; of several the newest."""
    if not asked:
        return _ask(Path(sys.executable).resolve())
    if asked.startswith("/"):
        path = Path(asked)
        return _ask(path) if _is_python(path) else None
    if not VERSION.fullmatch(asked):
        return None
    return next((one for one in _named(asked) if f"{one.version}.".startswith(f"{asked}.")), None)


def found() -> list[Interpreter]:
    """The newest of each minor version here, oldest first."""
    newest: dict[tuple[int, ...], Interpreter] = {}
    for path in [*_on_path("python3.*"), *_of_pyenv("*")]:
        one = _ask(path) if PROGRAM.fullmatch(path.name) else None
        if one and one.numbers[:2] >= OLDEST:
            held = newest.setdefault(one.numbers[:2], one)
            newest[one.numbers[:2]] = max(held, one, key=lambda either: either.numbers)
    return [newest[numbers] for numbers in sorted(newest)]


def _named(asked: str) -> Iterator[Interpreter]:
    minor = ".".join(asked.split(".")[:2])
    for path in [*_on_path(f"python{minor}"), *_of_pyenv(f"{minor}*")]:
        if one := _ask(path):
            yield one


def _on_path(pattern: str) -> list[Path]:
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    return [path for folder in folders for path in sorted(folder.glob(pattern))]


def _of_pyenv(pattern: str) -> list[Path]:
    """Newest first."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    with suppress(OSError):
        folders = [path for path in (root / "versions").glob(pattern) if VERSION.fullmatch(path.name)]
        folders.sort(key=lambda path: [int(part) for part in path.name.split(".")], reverse=True)
        return [path / "bin" / f"python{'.'.join(path.name.split('.')[:2])}" for path in folders]
    return []


def _is_python(path: Path) -> bool:
    """A Python that nobody but its owner could have put there: it is asked for its version outside any sandbox."""
    if not PROGRAM.fullmatch(path.name) or not os.access(path, os.X_OK):
        return False
    state = path.resolve().stat()
    return state.st_uid in (0, os.geteuid()) and not state.st_mode & 0o022


def _ask(path: Path) -> Interpreter | None:
    try:
        return _told(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=256)
def _told(path: Path, _changed: int) -> Interpreter | None:
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", ASK],
            check=True,
            capture_output=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
        version, base, kind = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None  # a shim that leads nowhere, a Python too old for the question
    return Interpreter(path=path, version=version, base=Path(base), kind=kind)
