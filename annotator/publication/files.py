"""A file of a release, and the hash of all of them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class File:
    """One file of a release."""

    path: str
    sha256: str
    bytes: int

    def document(self) -> dict[str, Any]:
        return {"path": self.path, "sha256": self.sha256, "bytes": self.bytes}


def content_hash(files: Iterable[File]) -> str:
    """SHA-256 of the lines `<sha256>  <path>` of all content files, sorted by path: what `sha256sum` would print."""
    lines = "".join(f"{file.sha256}  {file.path}\n" for file in sorted(files, key=lambda file: file.path))
    return hashlib.sha256(lines.encode()).hexdigest()
