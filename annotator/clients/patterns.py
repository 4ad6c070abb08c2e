"""Searching by a regular expression of somebody else's: in a process of its own, which can be ended.

Python's own engine may take for ever on a pattern such as `(a+)+$`, and nothing in the same process stops it.
"""

import json
import subprocess
import sys
from collections.abc import Callable

SEARCHER = """
import json, re, sys
pattern, text = json.load(sys.stdin)
found = re.search(pattern, text, re.MULTILINE)
json.dump(None if found is None else found.group(0)[:500], sys.stdout)
"""
Search = Callable[[str, str], str | None]  # pattern, text: what matched first, or None


class TooSlow(Exception):
    """The pattern was not through with the text in time."""


def search(pattern: str, text: str, *, seconds: float = 10.0) -> str | None:
    """What of the text matches first, at most 500 characters; None where nothing does. Lines count (^ and $).

    Raises TooSlow, and ValueError where the pattern is none.
    """
    command = [sys.executable, "-I", "-S", "-c", SEARCHER]
    try:
        done = subprocess.run(
            command, input=json.dumps([pattern, text]), capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise TooSlow(f"the pattern {pattern[:80]} was not through with the output in {seconds:g} s") from None
    if done.returncode:
        raise ValueError(f"the pattern {pattern[:80]} cannot be searched for")
    found: str | None = json.loads(done.stdout)
    return found
