"""A lock's text: one requirement after another, each with the hashes of the files that it may be installed from."""

import re
from collections.abc import Callable, Iterable

MARK = "--hash=sha256:"
REQUIREMENT = (
    re.compile(  # one version of one distribution, perhaps with extras and a marker; no option, address or path
        r"[A-Za-z0-9]([A-Za-z0-9._-]{0,198}[A-Za-z0-9])?(\[[A-Za-z0-9._, -]{1,200}\])?"
        r"==[A-Za-z0-9.!+_-]{1,100}(\s{0,4};[\w\s.'\"<>=!()-]{1,500})?"
    )
)
DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_ENTRIES = 2000


def refuse_unfit(text: str) -> None:
    """ValueError where a lock says more than versions and hashes: it decides what other machines install."""
    try:
        found = entries(text)
    except IndexError:
        raise ValueError("it begins with a hash") from None
    if len(found) > MOST_ENTRIES:
        raise ValueError(f"it has more than {MOST_ENTRIES:,} requirements")
    for requirement, hashes in found:
        if not REQUIREMENT.fullmatch(requirement):
            raise ValueError(f"“{requirement[:80]}” is no name with one version, as in numpy==1.18.0")
        if not hashes:
            raise ValueError(f"{requirement[:80]} has no hash")
        if not all(DIGEST.fullmatch(one) for one in hashes):
            raise ValueError(f"a hash of {requirement[:80]} is none")


def entries(text: str) -> list[tuple[str, list[str]]]:
    """(requirement, hashes), in order."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        said = line.strip().removesuffix("\\").strip()
        if said.startswith(MARK):
            found[-1][1].append(said.removeprefix(MARK))
        elif said and not said.startswith("#"):
            found.append((said, []))
    return found


def rewritten(text: str, change: Callable[[list[str]], Iterable[str]]) -> str:
    """The same with other hashes."""
    lines = []
    for requirement, hashes in entries(text):
        marks = sorted(set(change(hashes)))
        lines.append(" \\\n    ".join([requirement, *(f"{MARK}{one}" for one in marks)]))
    return "".join(f"{line}\n" for line in lines)


def allowed(text: str, name: str) -> list[str]:
    """The hashes of one package."""
    wanted = f"{name.lower().replace('_', '-')}=="
    return [
        one
        for requirement, hashes in entries(text)
        if requirement.lower().replace("_", "-").startswith(wanted)
        for one in hashes
    ]
