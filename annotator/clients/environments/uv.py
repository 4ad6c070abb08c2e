"""uv, which locks and installs: run with a bound on its time, stopped at a word, its errors told in a sentence.

Wheels only: to build a package from its source is to run what its author wrote. See sources.py for those.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.clients.environments.spec import NotInstalled
from annotator.clients.sandboxes import following
from annotator.clients.sandboxes.job import How, Limits, Stopped

HANDED_ON = ("UV_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "PATH", "HOME", "LANG", "NETRC")
UNBUILT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+]+)(?=[^`;]*? ha(?:s|ve) no (?:usable )?wheels)")
PASSING = ("connect", "timed out", "timeout", "dns", "network", "temporarily", "connection", "502", "503", "504")
NO_WHEEL = re.compile(r"Wheels are required for `([^`]+)`|no (?:usable )?wheels|has no wheels", re.I)
HINT = (
    "; only wheels are installed, since building from source would run its author's code: name a version that has one"
)


@dataclass(frozen=True, kw_only=True)
class Uv:
    cache: Path  # on the same file system as the environments, so that they share files by hard links
    seconds: float = 1800.0

    def __call__(self, *arguments: str, stopped: Stopped) -> str:
        """Its output. Raises NotInstalled with what it said."""
        process = subprocess.Popen(
            [program(), *arguments, "--no-config", "--no-progress", "--color=never", "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._surroundings(),
            cwd="/",
            umask=0o022,  # scripts run as somebody else, who has to read it
        )
        limits = Limits(seconds=self.seconds, output_kb=16_384)
        seen = following.follow(process, limits=limits, heard=lambda *_: None, stopped=stopped, kill=process.kill)
        if seen.how is not How.EXITED:
            raise NotInstalled(_ended(seen.how, self.seconds), may_pass=seen.how is How.TIMED_OUT)
        if seen.exit_code:
            raise _failure(seen.stderr.decode(errors="replace"))
        return seen.stdout.decode()

    def _surroundings(self) -> dict[str, str]:
        """The caller's way to the package index, and none of its secrets for anything else."""
        kept = {name: value for name, value in os.environ.items() if name.upper().startswith(HANDED_ON)}
        index = os.environ.get("PIP_INDEX_URL")
        if index and not {"UV_INDEX_URL", "UV_DEFAULT_INDEX"} & set(kept):
            kept["UV_DEFAULT_INDEX"] = index
        return kept | {"UV_CACHE_DIR": str(self.cache), "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "hardlink"}


def program() -> str:
    from uv import find_uv_bin

    try:
        return find_uv_bin()
    except FileNotFoundError as error:
        raise NotInstalled(f"uv is not here, which installs packages: {error}") from None


def _ended(how: How, seconds: float) -> str:
    if how is How.CANCELLED:
        return "stopped while its packages were being installed"
    return f"its packages could not be installed within {seconds:g} seconds"


def _failure(said: str) -> NotInstalled:
    lines = [line.strip().removeprefix("error:").removeprefix("cause:").strip() for line in said.splitlines()]
    told = _shortened([line for line in lines if line])
    passing = any(word in said.lower() for word in PASSING) and "no solution found" not in said.lower()
    return NotInstalled(f"uv could not install the packages: {told}", may_pass=passing, unbuilt=unbuilt(said))


def _shortened(lines: Sequence[str]) -> str:
    told = " ".join(line for line in lines if not line.startswith("hint:")) or "it said nothing"
    return told if len(told) <= 600 else f"{told[:600]} …"


def unbuilt(said: str) -> tuple[tuple[str, str], ...]:
    """(name, version) of each package that uv found no wheel of."""
    return tuple(dict.fromkeys(UNBUILT.findall(" ".join(said.split()))))
