"""Environments, built once and kept by content.

A folder for each, named by a digest of what it is made of. It is built under another name and then renamed, so that
there is never half of one; a lock beside it keeps two builders from building the same, and what is in use from being
removed.
"""

import fcntl
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO

from annotator.clients.environments import interpreters
from annotator.clients.environments.interpreters import Interpreter
from annotator.clients.environments.locked import allowed, rewritten
from annotator.clients.environments.setup import set_up
from annotator.clients.environments.shown import libraries, reads, show
from annotator.clients.environments.sources import Sources
from annotator.clients.environments.spec import (
    PLACE,
    Environment,
    Lock,
    NoInterpreter,
    NotInstalled,
    Spec,
    read_requirement,
)
from annotator.clients.environments.uv import Uv
from annotator.clients.sandboxes.job import Sandbox, Stopped

MB = 1024 * 1024
WHEELS = ("--only-binary", ":all:")
MOST_SOURCES = 20
READY = "ready.json"  # in a finished environment; its time is that of the last use


def never() -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Environments:
    """All of this machine, below one folder."""

    folder: Path
    sandbox: Sandbox | None = None  # where set-up commands run
    seconds: float = 1800.0  # that building one may take

    def lock(self, spec: Spec, *, stopped: Stopped = never) -> Lock:
        """Exact versions with hashes. Raises NoInterpreter or NotInstalled."""
        if spec.image:
            return lock_of_image(spec)
        interpreter = interpreter_for(spec.python)
        asked = [read_requirement(text) for text in spec.requirements]
        if not asked:
            return Lock(spec=spec, interpreter=interpreter)
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.folder, prefix="asked-", suffix=".in") as file:
            file.write("\n".join(asked) + "\n")
            file.flush()
            line = ["pip", "compile", file.name, "--python", str(interpreter.path), "--generate-hashes", *WHEELS]
            line += ["--no-header", "--no-annotate"]
            text = self._with_wheels(
                lambda made: self._uv(*line, *made, stopped=stopped), interpreter, stopped=stopped, allowed=lambda _: []
            )
        ours = self._sources.origins()
        text = rewritten(text, lambda hashes: [ours.get(one, one) for one in hashes])  # as on any other machine
        return Lock(spec=spec, interpreter=interpreter, text=text)

    @contextmanager
    def ready(self, lock: Lock, *, stopped: Stopped = never) -> Iterator[Environment]:
        """The environment of a lock, built if need be; it stays while it is in use. Raises NotInstalled."""
        if lock.spec.image:
            yield Environment(lock=lock, python="python3")
            return
        place = self.folder / lock.place
        while True:
            with self._held(lock.place, fcntl.LOCK_SH, stopped):
                if (found := _found(lock, place)) is not None:
                    os.utime(place / READY)
                    yield found
                    return
            with self._held(lock.place, fcntl.LOCK_EX, stopped):
                if not (place / READY).exists():
                    self._build(lock, place, stopped)

    def prune(self, *, keep_mb: float) -> list[str]:
        """Remove the least recently used, until what is left takes no more than that; returns the names of the removed."""
        self._sweep()
        kept = sorted(self.folder.glob(f"*/{READY}"), key=lambda path: path.stat().st_mtime, reverse=True)
        counted: set[int] = set()
        total, removed = 0, []
        for path in (one.parent for one in kept):
            total += _size(path, counted)
            if total > keep_mb * MB and self._remove(path):
                removed.append(path.name)
        if removed:
            with suppress(NotInstalled):
                self._uv("cache", "prune", stopped=never)
        return removed

    @property
    def _uv(self) -> Uv:
        return Uv(cache=self.folder / "uv-cache", seconds=self.seconds)

    def _build(self, lock: Lock, place: Path, stopped: Stopped) -> None:
        self._sweep()
        assert lock.interpreter  # noqa: S101  # images have gone another way
        half = self.folder / f"half-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            line = ("venv", str(half), "--python", str(lock.interpreter.path), "--no-project", "--relocatable")
            self._uv(*line, stopped=stopped)
            if lock.text:
                self._install(half, lock, lock.interpreter, stopped=stopped)
            show(half, lock.interpreter)
            if lock.spec.setup:
                set_up(half, lock, self._sandbox(), stopped=stopped)
            (half / READY).write_text(json.dumps({"python": lock.python, "installed": _installed(half)}))
            half.rename(place)
        finally:
            shutil.rmtree(half, ignore_errors=True)

    def _install(self, half: Path, lock: Lock, interpreter: Interpreter, *, stopped: Stopped) -> None:
        listed = half / "requirements.txt"

        def install(made: Sequence[str]) -> str:
            ours = self._sources.made
            text = rewritten(lock.text, lambda hashes: [*hashes, *ours(hashes, interpreter.version)])
            listed.write_text(text)
            line = ("pip", "sync", str(listed), "--python", str(half / "bin" / "python"), "--require-hashes", *WHEELS)
            return self._uv(*line, *made, stopped=stopped)

        self._with_wheels(install, interpreter, stopped=stopped, allowed=lambda name: allowed(lock.text, name))
        listed.write_text(lock.text)

    def _with_wheels(
        self,
        act: Callable[[Sequence[str]], str],
        interpreter: Interpreter,
        *,
        stopped: Stopped,
        allowed: Callable[[str], Sequence[str]],
    ) -> str:
        """Do it; where a package was published as source alone, make its wheel and do it again."""
        made: set[tuple[str, str]] = set()
        while True:
            try:
                return act(self._sources.places())
            except NotInstalled as error:
                missing = set(error.unbuilt) - made
                if not missing or len(made) >= MOST_SOURCES:
                    raise
                for name, version in sorted(missing):
                    self._sources.make(name, version, interpreter=interpreter, allowed=allowed(name), stopped=stopped)
                made |= missing

    @property
    def _sources(self) -> Sources:
        return Sources(folder=self.folder / "wheels", sandbox=self.sandbox, ready=self._tools)

    @contextmanager
    def _tools(self, spec: Spec, stopped: Stopped) -> Iterator[Environment]:
        with self.ready(self.lock(spec, stopped=stopped), stopped=stopped) as environment:
            yield environment

    def _sandbox(self) -> Sandbox:
        if not self.sandbox:
            raise NotInstalled("its set-up commands need a sandbox to run in, and there is none here")
        return self.sandbox

    @contextmanager
    def _held(self, name: str, how: int, stopped: Stopped) -> Iterator[None]:
        """The lock of one environment: shared by those who use it, alone for who builds or removes it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.lock").open("w") as file:
            while not _locked(file, how):
                if stopped():
                    raise NotInstalled("stopped while it was being built elsewhere")
                time.sleep(0.1)
            yield

    def _remove(self, path: Path) -> bool:
        """Unless it is in use."""
        try:
            with self._held(path.name, fcntl.LOCK_EX, lambda: True):
                gone = path.with_name(f"half-{os.getpid()}-{secrets.token_hex(4)}")
                path.rename(gone)
        except NotInstalled:
            return False
        shutil.rmtree(gone, ignore_errors=True)
        return True

    def _sweep(self) -> None:
        """What builders left that were killed."""
        for half in self.folder.glob("half-*"):
            if not Path("/proc", half.name.split("-")[1]).exists():
                shutil.rmtree(half, ignore_errors=True)


def _locked(file: IO[str], how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def interpreter_for(asked: str) -> interpreters.Interpreter:
    """Raises NoInterpreter, with what there is instead."""
    found = interpreters.find(asked)
    if not found:
        here = ", ".join(one.version for one in interpreters.found()) or "none"
        raise NoInterpreter(
            f"no Python {asked} is here; found: {here}. Install it (for example by pyenv), or name another by version or path"
        )
    if found.numbers[:2] < interpreters.OLDEST:
        raise NoInterpreter(f"Python {found.version} is too old: environments are made for 3.6 and newer")
    return found


def lock_of_image(spec: Spec) -> Lock:
    if spec.python or spec.requirements or spec.setup:
        raise NotInstalled("an image brings its own Python and packages: name either an image, or these")
    return Lock(spec=spec)


def _found(lock: Lock, place: Path) -> Environment | None:
    try:
        told = json.loads((place / READY).read_text())
    except FileNotFoundError:
        return None
    assert lock.interpreter  # noqa: S101  # images have gone another way
    return Environment(
        lock=lock,
        python=f"{PLACE}/bin/python",
        reads=reads(place, lock.interpreter),
        paths=libraries(lock.interpreter),
        installed=told["installed"],
    )


def _installed(folder: Path) -> Mapping[str, str]:
    """Read from their files: nothing of them is run."""
    places = [str(path) for path in folder.glob("lib/python*/site-packages")]
    found = {one.metadata["Name"]: one.version for one in metadata.distributions(path=places)}
    return dict(sorted((name.lower().replace("_", "-"), version) for name, version in found.items() if name))


def _size(folder: Path, counted: set[int]) -> int:
    """Bytes on disk, of what no other environment counted already."""
    total = 0
    for path in folder.rglob("*"):
        state = path.lstat()
        if state.st_ino not in counted:
            counted.add(state.st_ino)
            total += state.st_blocks * 512
    return total
