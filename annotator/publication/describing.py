"""The files of a release that know its number and day. They follow from its content, number and day alone."""

import datetime as dt
from typing import Any

from annotator.publication.citing import Named, cff, zenodo
from annotator.publication.croissant import croissant, datapackage
from annotator.publication.datacard import datacard
from annotator.publication.documents import as_json
from annotator.publication.files import File
from annotator.publication.recompute import RELEASE, SUMS
from annotator.publication.writing import Written, write_bytes

CHANGES = "changes.json"


def describe(written: Written, *, number: int, at: dt.datetime, changes: dict[str, Any] | None) -> list[File]:
    """Written beside the content: all files of the release, by path. `changes` since the one before, if there is any."""
    named = Named(number, at.date(), written.about, written.sha256)
    made = {
        "CITATION.cff": cff(named).encode(),
        ".zenodo.json": as_json(zenodo(named)),
        "croissant.json": as_json(croissant(named, written)),
        "datapackage.json": as_json(datapackage(named, written)),
        "datacard.md": datacard(named, written).encode(),
        RELEASE: as_json(release_document(named, written, at)),
        **({CHANGES: as_json(changes)} if changes else {}),
    }
    files = written.files + [write_bytes(written.folder, path, data) for path, data in made.items()]
    files.sort(key=lambda file: file.path)
    sums = "".join(f"{file.sha256}  {file.path}\n" for file in files)
    return sorted([*files, write_bytes(written.folder, SUMS, sums.encode())], key=lambda file: file.path)


def release_document(named: Named, written: Written, at: dt.datetime) -> dict[str, Any]:
    return {
        "study": named.about["study"],
        "title": named.title,
        "version": named.number,
        "published_at": at.isoformat(),
        "sha256": named.sha256,
        "hash_is_of": "the lines `<sha256>  <path>` of the content below, sorted by path: without version and date",
        "content": [file.document() for file in written.files],
        "rows": {each.table.name: each.rows for each in written.tables},
    }
