"""Making a release: written to a folder, checked, kept by content, and published with a number in one transaction.

Whoever is killed on the way leaves a folder that the next sweep clears away, and no release.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage

from annotator.accounts.models import User
from annotator.publication.actions import Made, Overtaken, latest, publish
from annotator.publication.changes import changes_between, in_storage
from annotator.publication.checks import checked
from annotator.publication.figures import figures_of
from annotator.publication.keeping import FOLDER, files_of, keep
from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.writing import Tell, Written, write
from annotator.studies.models import Study
from annotator.web.errors import Refused

WORK = "work"
ABANDONED = 6 * 3600  # seconds after which nobody works in a folder any more


def nothing(done: int, of: int, says: str) -> None:
    """Nobody waits to be told."""


def make(
    study: Study,
    options: Options,
    *,
    by: User | None,
    row: Release | None = None,
    owner: str = "",
    tell: Tell = nothing,
) -> Release:
    """The release that holds the study's present state: a new one, or the one that did before."""
    with workplace() as folder:
        written = write(study, options, folder, tell=tell, pictures=figures_of)
        tell(1, 1, "checks")
        checks = checked(study, options, written)
        if broken := [check for check in checks if check.must and not check.passed]:
            raise Refused(f"Nothing was published. {broken[0].says}")
        keep(folder, written.files)
        made = Made(written, checks, options)
        while True:
            previous = latest(study)
            changes = since(previous, written) if previous else None
            try:
                return publish(study=study, made=made, previous=previous, changes=changes, by=by, row=row, owner=owner)
            except Overtaken:
                continue


def since(previous: Release, written: Written) -> dict[str, Any] | None:
    """None where nothing is another: then there will be no release."""
    if previous.sha256 == written.sha256:
        return None
    return changes_between(in_storage(files_of(previous)), in_storage(written.files), since=previous.number or 0)


@contextmanager
def workplace() -> Iterator[Path]:
    """Beside the files that are kept, so that they are moved there and not copied."""
    try:
        parent = Path(default_storage.path(f"{FOLDER}/{WORK}"))
        parent.mkdir(parents=True, exist_ok=True)
    except NotImplementedError:  # a storage elsewhere
        parent = Path(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix="release-", dir=parent) as folder:
        yield Path(folder)


def clear_abandoned() -> None:
    """Folders of those who were killed."""
    try:
        parent = Path(default_storage.path(f"{FOLDER}/{WORK}"))
    except NotImplementedError:
        return
    for folder in parent.glob("release-*"):
        if time.time() - folder.stat().st_mtime > ABANDONED:
            shutil.rmtree(folder, ignore_errors=True)
