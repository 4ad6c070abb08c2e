"""A lock's text: one requirement after another, each with the hashes of the files that it may be installed from."""

from collections.abc import Callable, Iterable

MARK = "--hash=sha256:"


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
