"""Packages that were published as source alone: fetched from the index, built in a sandbox, kept as wheels.

To build a package is to run what its author wrote. uv would do so unconfined, so it never builds: it is handed wheels,
and those that nobody published are made here, without network, from the source that the lock names by its hash.
"""

import hashlib
import io
import re
import tarfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from annotator.clients.environments.index import Index, Sdist
from annotator.clients.environments.interpreters import Interpreter
from annotator.clients.environments.spec import Environment, NotInstalled, Spec
from annotator.clients.sandboxes.job import Ended, How, Job, Limits, Refused, Sandbox, Stopped

WHEEL = re.compile(r"[A-Za-z0-9_.!+]+(-[A-Za-z0-9_.!+]+){4,5}\.whl")
TOOLS = (("pip", "wheel", "setuptools"), ("pip", "wheel", "setuptools<58"))  # old packages need the second
EPOCH = "315619200"  # 1980-01-02: wheels are archives, which hold no earlier time
SCRIPT = """
import os, subprocess, sys, tarfile

line = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir"]
code = subprocess.call(line + ["-w", "made", sys.argv[1]], stdout=2, stdin=subprocess.DEVNULL)
if code:
    sys.exit(code)
with tarfile.open(fileobj=os.fdopen(1, "wb"), mode="w|") as archive:
    archive.add("made")
"""

Ready = Callable[[Spec, Stopped], AbstractContextManager[Environment]]


@dataclass(frozen=True, kw_only=True)
class Sources:
    folder: Path  # of the wheels that were made, one folder for each source and Python
    sandbox: Sandbox | None
    ready: Ready  # gives the environment that builds
    index: Index = field(default_factory=Index)

    def places(self) -> list[str]:
        """Options that lead uv to the wheels."""
        return [word for path in sorted(self.folder.glob("*-*")) for word in ("--find-links", str(path))]

    def made(self, hashes: Sequence[str], python: str) -> list[str]:
        """Hashes of the wheels that were made here from one of these sources."""
        return [_digest(path) for one in hashes for path in sorted((self.folder / f"{one}-{python}").glob("*.whl"))]

    def origins(self) -> dict[str, str]:
        """{hash of a wheel that was made here: hash of its source}."""
        return {_digest(path): path.parent.name.partition("-")[0] for path in self.folder.glob("*/*.whl")}

    def make(
        self, name: str, version: str, *, interpreter: Interpreter, allowed: Sequence[str], stopped: Stopped
    ) -> None:
        """Fetch and build. `allowed` are hashes that the source may have; any where there are none."""
        if not self.sandbox:
            raise NotInstalled(f"{name} {version} comes as source alone, and there is no sandbox here to build it in")
        source = self.index.source(name, version)
        if allowed and source.sha256 not in allowed:
            raise NotInstalled(f"the source of {name} {version} is no longer the one that was locked")
        said = ""
        for tools in TOOLS:
            with self.ready(Spec(python=str(interpreter.path), requirements=tools), stopped) as environment:
                ended = self._built(source, environment, stopped)
            if ended.how is How.CANCELLED:
                raise NotInstalled(f"stopped while {name} {version} was being built")
            if ended.how is How.EXITED and ended.exit_code == 0:
                return self._keep(source, interpreter.version, ended.stdout)
            said = " ".join(ended.stderr.decode(errors="replace").split())[-400:] or ended.how.value
        raise NotInstalled(
            f"{name} {version} comes as source alone, and could not be built in the sandbox: {said}; "
            "name a version that has a wheel, or a Python for which it has one"
        )

    def _built(self, source: Sdist, environment: Environment, stopped: Stopped) -> Ended:
        assert self.sandbox  # noqa: S101  # asked for before
        job = Job(
            name="wheel",
            command=(environment.python, "build.py", source.file),
            files={"build.py": SCRIPT.encode(), source.file: source.content},
            reads=environment.reads,
            variables={**environment.variables, "SOURCE_DATE_EPOCH": EPOCH, "LANG": "C.UTF-8"},
            limits=Limits(seconds=900, memory_mb=4096, disk_mb=2048, output_kb=262_144, processes=512),
        )
        try:
            return self.sandbox.run(job, heard=lambda *_: None, stopped=stopped)
        except Refused as refused:
            raise NotInstalled(f"{source.file} comes as source alone, and cannot be built: {refused}") from None

    def _keep(self, source: Sdist, python: str, archive: bytes) -> None:
        """The one wheel that came of it: written by others, so taken by its name alone."""
        place = self.folder / f"{source.sha256}-{python}"
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as made:
                wheels = [(Path(one.name).name, made.extractfile(one)) for one in made if one.isreg()]
                contents = {name: file.read() for name, file in wheels if file and WHEEL.fullmatch(name)}
        except (tarfile.TarError, EOFError) as error:
            raise NotInstalled(f"what came of building {source.file} cannot be read: {error}") from None
        if len(contents) != 1:
            raise NotInstalled(f"building {source.file} made no wheel")
        place.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            half = place / f".{name}.half"
            half.write_bytes(content)
            half.replace(place / name)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
