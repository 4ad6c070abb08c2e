"""What passes between whoever keeps the runs and whoever runs them: work that is claimed, pieces of log, a result.

The ledger has three forms: rows, for this machine's worker; HTTP, for a host elsewhere; and memory, for the command
that runs a recipe without a database.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

LONGEST_KEPT = 300_000  # characters of each stream that are stored with a run
LONGEST_PIECE, MOST_PIECES = 16_000, 64  # of a log at once
DEEPEST = 50  # lists in lists that a measure may hold
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Work:
    """A run as it was claimed: all that is needed to carry it out, and the lease that speaks for it."""

    run: str  # its key
    lease: str  # a secret of this claim: only who holds it renews, writes and ends
    attempt: int
    recipe: Mapping[str, Any]  # the document
    script: str
    environment: str  # its name in the recipe
    repeat: int
    seed: int
    runner: str = ""  # what is to contain the script; empty: whichever the machine prefers
    locked: str = ""  # requirements as an earlier run of the recipe locked them
    python: str = ""  # … and the exact interpreter of then
    image: str = ""  # … or the image, by its digest
    lease_seconds: float = 60.0

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Work":
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in document.items() if name in known})


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Of what an attempt wrote."""

    sequence: int
    text: str
    is_error: bool = False


@dataclass(frozen=True, kw_only=True)
class Used:
    """The environment that a run really had, down to exact versions."""

    python: str = ""
    locked: str = ""
    image: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    setup: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Result:
    """How an attempt ended."""

    outcome: str  # of models.Run.Outcome
    said: str
    exit_code: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_mb: float | None = None
    gpu_peak_mb: float | None = None
    stdout: str = ""
    stderr: str = ""
    measures: Mapping[str, Any] = field(default_factory=dict)
    installed: Mapping[str, str] = field(default_factory=dict)
    used: Used | None = None
    input_digest: str = ""
    may_pass: bool = False  # a fault of the moment, such as an index that did not answer: worth another attempt

    def document(self) -> dict[str, Any]:
        return asdict(self)


class Ledger(Protocol):
    def renew(self, work: Work) -> bool:
        """Keep the lease; False: stop at once, somebody cancelled the run or has taken it."""

    def log(self, work: Work, pieces: Sequence[Piece]) -> None:
        """Store pieces of output; the same piece twice is stored once."""

    def result(self, work: Work, result: Result) -> bool:
        """End the attempt; False: it no longer counts, since another has the run or it was cancelled."""

    def rest(self) -> None:
        """The thread that calls this asks for nothing more."""


class Unreachable(Exception):
    """The ledger did not answer; it may later."""


def storable(value: Any, *, deep: int = 0) -> Any:
    """Plain values as every database and strict JSON hold them: no NUL, no half of a character pair, no infinity.

    ValueError where they are nested too deeply to be compared.
    """
    if deep > DEEPEST:
        raise ValueError(f"It is nested more than {DEEPEST} deep.")
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [storable(one, deep=deep + 1) for one in value]
    if isinstance(value, dict):
        return {UNSTORABLE.sub("\ufffd", name): storable(one, deep=deep + 1) for name, one in value.items()}
    return value


def cut(text: str, *, longest: int = LONGEST_KEPT) -> str:
    """The beginning and the end, where it is long: what matters stands there."""
    if len(text) <= longest:
        return text
    half = longest // 2 - 40
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… {left_out:,} characters are left out …\n{text[-half:]}"
