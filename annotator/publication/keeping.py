"""The files of releases in the default storage, each under the hash of its content: a file is there whole or not at all."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from django.core.files import File as Stored
from django.core.files.storage import default_storage

from annotator.publication.files import File
from annotator.publication.models import Release

FOLDER = "releases"
AT_ONCE = 1 << 20


def place_of(sha256: str) -> str:
    return f"{FOLDER}/{sha256[:2]}/{sha256}"


class _Movable(Stored):  # type: ignore[type-arg]  # generic in the stubs alone
    """Storage on this machine takes the file over instead of copying it."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__(file, name=path.name)
        self.path = path

    def temporary_file_path(self) -> str:
        return str(self.path)


def keep(folder: Path, files: list[File]) -> None:
    """Those that are not there yet; the folder gives them up."""
    for file in files:
        if not default_storage.exists(place_of(file.sha256)):
            with (folder / file.path).open("rb") as opened:
                default_storage.save(place_of(file.sha256), _Movable(folder / file.path, opened))


def files_of(release: Release) -> list[File]:
    return [File(each["path"], each["sha256"], each["bytes"]) for each in release.manifest]


def pieces_of(sha256: str) -> Iterator[bytes]:
    with default_storage.open(place_of(sha256), "rb") as file:
        while piece := file.read(AT_ONCE):
            yield cast(bytes, piece)


def opened(sha256: str) -> Any:
    return default_storage.open(place_of(sha256), "rb")


def read(sha256: str) -> bytes:
    with opened(sha256) as file:
        return cast(bytes, file.read())


def hand_out(files: list[File], folder: Path) -> None:
    """Copies, each under another name until it is whole."""
    for file in files:
        target = folder / file.path
        target.parent.mkdir(exist_ok=True)
        part = target.with_name(f"{target.name}.part")
        with opened(file.sha256) as source, part.open("wb") as copy:
            shutil.copyfileobj(source, copy, AT_ONCE)
        part.replace(target)


def is_kept(file: File) -> bool:
    """It is there, with the content that its name promises."""
    if not default_storage.exists(place_of(file.sha256)):
        return False
    digest = hashlib.sha256()
    for piece in pieces_of(file.sha256):
        digest.update(piece)
    return digest.hexdigest() == file.sha256
