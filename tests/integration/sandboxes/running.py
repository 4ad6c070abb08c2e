"""Runs a script in a sandbox, as the tests of sandboxes all do."""

import sys
from pathlib import Path

from annotator.clients.sandboxes.job import Ended, Job, Limits, Sandbox, Stream

PYTHON = Path(sys.executable).resolve()
BASE = Path(sys.base_prefix)
READS = {} if BASE.is_relative_to("/usr") else {str(BASE): BASE}


def python(sandbox: Sandbox, script: str, *arguments: str, also=(), **asked) -> Ended:
    """A Python script, with limits by name."""
    return run(sandbox, str(PYTHON), "-I", "script.py", *arguments, files={"script.py": script, **dict(also)}, **asked)


def run(sandbox: Sandbox, *command: str, files=(), heard=lambda *_: None, stopped=lambda: False, **asked) -> Ended:
    return sandbox.run(job(*command, files=files, **asked), heard=heard, stopped=stopped)


def job(*command: str, files=(), name="test", variables=(), reads=READS, image="", devices=(), **limits) -> Job:
    return Job(
        name=name,
        command=command or ("true",),
        files={path: content.encode() for path, content in dict(files).items()},
        variables=dict(variables),
        reads=reads,
        image=image,
        devices=devices,
        limits=Limits(**{"seconds": 20, "memory_mb": 256, "processes": 64, "disk_mb": 64} | limits),
    )


def told(pieces: list[tuple[Stream, bytes]], stream: Stream) -> bytes:
    return b"".join(piece for where, piece in pieces if where is stream)
