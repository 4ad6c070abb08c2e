"""The taxonomies of published studies, ready to start from."""

from functools import cache
from pathlib import Path
from typing import Any

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


def summary(slug: str) -> dict[str, Any]:
    """What a person chooses by."""
    document = preset(slug)
    return {
        "slug": slug,
        "title": document.title,
        "source": document.source,
        "facets": [
            {
                "id": facet.id,
                "name": facet.title,
                "kind": facet.kind,
                "answers": facet.answers,
                "optional": facet.optional,
                "categories": [category.name for category in facet.categories],
            }
            for facet in document.facets
        ],
    }
