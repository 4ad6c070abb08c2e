"""Set-up commands of an environment: other people's, so they run in a sandbox, on a copy, and what they changed is taken
over file by file."""

import io
import json
import tarfile
from pathlib import Path, PurePosixPath

from annotator.clients.environments.shown import libraries, reads
from annotator.clients.environments.spec import PLACE, Lock, NotInstalled
from annotator.clients.sandboxes.job import How, Job, Limits, Refused, Sandbox, Stopped

MB = 1024 * 1024
SPARE_MB = 512
CHANGED_MB = 256  # that the commands may write
COPY = "environment"
SCRIPT = """
import json, os, shutil, subprocess, sys, tarfile

source, commands = sys.argv[1], json.loads(sys.argv[2])
copy = os.path.abspath("environment")
shutil.copytree(source, copy, symlinks=True)


def state():
    found = {}
    for folder, _, names in os.walk(copy):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                told = os.stat(path)
                found[path] = (told.st_mtime_ns, told.st_size, told.st_ino)
    return found


before = state()
surroundings = dict(os.environ, VIRTUAL_ENV=copy, PATH=copy + "/bin:" + os.environ["PATH"], PYTHONDONTWRITEBYTECODE="1")
for command in commands:
    code = subprocess.call(["/bin/sh", "-c", command], env=surroundings, stdout=2, stdin=subprocess.DEVNULL)
    if code:
        sys.exit("%s: exit code %d" % (command, code))
changed = sorted(path for path, told in state().items() if before.get(path) != told)
with tarfile.open(fileobj=os.fdopen(1, "wb"), mode="w|") as archive:
    for path in changed:
        archive.add(path, os.path.relpath(path), recursive=False)
"""


def set_up(folder: Path, lock: Lock, sandbox: Sandbox, *, stopped: Stopped) -> None:
    """Run the commands and take over the files that they wrote. Raises NotInstalled."""
    archive = _changes(folder, lock, sandbox, stopped)
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as changes:
            for member in changes:
                _take_over(folder, changes, member)
    except (tarfile.TarError, EOFError) as error:
        raise NotInstalled(f"what its set-up commands changed cannot be read: {error}") from None


def _changes(folder: Path, lock: Lock, sandbox: Sandbox, stopped: Stopped) -> bytes:
    assert lock.interpreter  # noqa: S101  # an image has no set-up commands
    disk = sum(path.lstat().st_size for path in folder.rglob("*")) // MB + SPARE_MB
    job = Job(
        name="setup",
        command=(f"{PLACE}/bin/python", "-I", "-S", "setup.py", PLACE, json.dumps(lock.spec.setup)),
        files={"setup.py": SCRIPT.encode()},
        reads=reads(folder, lock.interpreter),
        variables={**libraries(lock.interpreter), **lock.spec.variables},
        limits=Limits(seconds=600, memory_mb=disk + 1024, disk_mb=disk, output_kb=CHANGED_MB * 1024),
    )
    try:
        ended = sandbox.run(job, heard=lambda *_: None, stopped=stopped)
    except Refused as refused:
        raise NotInstalled(f"its set-up commands cannot be run: {refused}") from None
    if ended.how is not How.EXITED or ended.exit_code:
        said = ended.stderr.decode(errors="replace") or ended.how.value
        raise NotInstalled(f"its set-up commands failed: {' '.join(said.split())[-500:]}")
    return ended.stdout


def _take_over(folder: Path, changes: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    """A regular file below the environment, or nothing: the archive was written by others."""
    path = PurePosixPath(member.name)
    content = changes.extractfile(member) if member.isreg() else None
    if not content or path.is_absolute() or ".." in path.parts or path.parts[:1] != (COPY,) or len(path.parts) < 2:
        return
    target = folder.joinpath(*path.parts[1:])
    if not target.parent.resolve().is_relative_to(folder.resolve()) or (target.is_dir() and not target.is_symlink()):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # it may be a hard link that other environments share
    target.write_bytes(content.read())
    target.chmod(0o755 if member.mode & 0o100 else 0o644)
