"""The script that a release ships, at work on the files of one that is being made: in a process of its own.

It has none of the server's code, secrets or memory, as whoever downloads the release, and computes beside the other checks.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

RUN = """
import csv, json, pathlib, sys
folder, *names = sys.argv[1:]
sys.path.insert(0, folder)
import check
csv.field_size_limit(2**31 - 1)
json.dump({name: getattr(check, name)(pathlib.Path(folder)) for name in names}, sys.stdout)
"""
KEPT = ("PATH", "LD_LIBRARY_PATH")
Found = dict[str, tuple[int, list[str]]]  # a check's name to how many figures it compared, and what is wrong


@contextmanager
def recomputing(folder: Path, *checks: str) -> Iterator[Callable[[], Found]]:
    """Begins at once; what is yielded waits for the end. RuntimeError where the script did not come to it."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    command = [sys.executable, "-I", "-S", "-B", "-c", RUN, str(folder.resolve()), *checks]
    with subprocess.Popen(  # noqa: S603  # our own script
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            yield lambda: answer_of(process)
        finally:
            process.kill()


def answer_of(process: "subprocess.Popen[bytes]") -> Found:
    said, problem = process.communicate()
    if process.returncode:
        raise RuntimeError(
            f"check.py ended with {process.returncode} on its release: {problem.decode(errors='replace')[-2000:]}"
        )
    return {name: (n, wrong) for name, (n, wrong) in json.loads(said).items()}
