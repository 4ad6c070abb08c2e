"""Reads a workbook in a process of its own, which gets so much memory and time and no more: its parser is not ours.

The process knows none of the server's secrets and has no connection to its database.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotator.intake.workbooks import BOMB, Worksheet, refuse_bombs, tabs_in
from annotator.web.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
MODULE = "annotator.intake.apart"
MEMORY = 1024**3  # bytes of address space
SECONDS, PATIENCE = 60, 120  # of computing, and until the answer
KEPT = {"PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG"}


def read_workbook(data: bytes, *, sheet: str | None = None, rows: int | None = None) -> Worksheet:
    """The sheet of that name, or the first; `rows` stops after the first so many."""
    return read_tabs(data, sheet=sheet, rows=rows, most=1)[0]


def read_tabs(data: bytes, *, sheet: str | None = None, rows: int | None = None, most: int) -> list[Worksheet]:
    """The first sheets, or the one of that name. BadInput where the workbook is broken or takes too much."""
    refuse_bombs(data)
    asked = json.dumps({"sheet": sheet, "rows": rows, "most": most})
    environment = {name: value for name, value in os.environ.items() if name in KEPT}
    command = [sys.executable, "-m", MODULE, asked]
    try:
        done = subprocess.run(  # noqa: S603  # our own module; the file goes to its standard input
            command, input=data, capture_output=True, check=False, cwd=ROOT, env=environment, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise BadInput(BOMB) from None
    if done.returncode < 0:  # ended by the kernel
        raise BadInput(BOMB)
    if done.returncode:
        raise RuntimeError(f"reading a workbook failed: {done.stderr.decode(errors='replace')[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "refused" in answer:
        raise BadInput(answer["refused"])
    return [worksheet(tab) for tab in answer["tabs"]]


def worksheet(told: dict[str, Any]) -> Worksheet:
    return Worksheet(
        told["name"],
        tuple(told["names"]),
        told["records"],
        [(first, top, last, bottom) for first, top, last, bottom in told["merges"]],
        [(row, column) for row, column in told["uncached"]],
    )


# --- in the process of its own


def answer_to(asked: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        return {"tabs": [asdict(tab) for tab in tabs_in(data, **asked)]}
    except BadInput as problem:
        return {"refused": str(problem)}
    except MemoryError:
        return {"refused": BOMB}


def limit() -> None:
    """What cannot be limited here, such as the address space on some systems, stays as it is."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl would load it, and does without
    limit()
    json.dump(answer_to(json.loads(sys.argv[1]), sys.stdin.buffer.read()), sys.stdout)
