"""JSON files of a release, as they were published."""

import json
from typing import Any

from annotator.publication.keeping import read
from annotator.publication.models import Release


def document(release: Release, path: str) -> Any:
    """None where the release has no file of that name."""
    found = next((file["sha256"] for file in release.manifest if file["path"] == path), None)
    return json.loads(read(found)) if found else None
