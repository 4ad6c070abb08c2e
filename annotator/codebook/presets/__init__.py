"""The taxonomies of published studies, ready to start from."""

from functools import cache
from pathlib import Path

from annotator.codebook.document import Document
from annotator.codebook.hotkeys import with_hotkeys
from annotator.codebook.reading import read
from annotator.web.errors import BadInput

FOLDER = Path(__file__).parent
MAIN = "dl-framework-bugs"


def slugs() -> list[str]:
    """The main study first, then by name."""
    found = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    return sorted(found, key=lambda slug: slug != MAIN)


@cache
def preset(slug: str) -> Document:
    if slug not in slugs():
        raise BadInput(f"There is no preset “{slug}”; there are {', '.join(slugs())}.")
    return with_hotkeys(read((FOLDER / f"{slug}.yaml").read_bytes()))
