"""A codebook as the pages list it: facets, and the categories of each with the key that chooses them."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotator.codebook.document import VERDICT, CategoryDoc, Document, FacetDoc
from annotator.codebook.hotkeys import DIGITS, LETTERS, PAGE

DIGIT_KEYS = 9  # narrower categories are chosen by a point and a digit


@dataclass(frozen=True, slots=True)
class Branch:
    category: CategoryDoc
    depth: int
    key: str  # what is pressed: "3", or ".2" after its parent

    @property
    def level(self) -> int:
        """Indentation on the page ends at the third level."""
        return min(self.depth + 1, 3)


@dataclass(frozen=True, slots=True)
class Question:
    facet: FacetDoc
    branches: tuple[Branch, ...]
    retired: tuple[CategoryDoc, ...]

    @property
    def is_verdict(self) -> bool:
        return self.facet.id == VERDICT

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Each key of this facet's own answers with the name it chooses."""
        return [(b.key, b.category.name) for b in self.branches if b.key and b.depth == 0]


def questions(document: Document) -> list[Question]:
    return [question(facet) for facet in document.facets if not facet.retired]


def question(facet: FacetDoc) -> Question:
    return Question(
        facet=facet,
        branches=tuple(_branches(facet)),
        retired=tuple(c for c in facet.categories if c.retired),
    )


def _branches(facet: FacetDoc) -> Iterator[Branch]:
    below = facet.below()
    for top in below.get("", ()):
        yield Branch(top, 0, top.hotkey)
        for place, (depth, narrower) in enumerate(facet.tree(top.name, below=below), 1):
            digit = narrower.hotkey or (str(place) if place <= DIGIT_KEYS else "")
            yield Branch(narrower, depth + 1, f".{digit}" if digit else "")


def taken_keys(document: Document, facet: FacetDoc, *, besides: str = "") -> dict[str, str]:
    """Keys that a top category of this facet cannot have, and to what each belongs."""
    taken = dict.fromkeys(PAGE, "the labelling page")
    taken |= {f.hotkey: f"“{f.title}”" for f in document.facets if f.hotkey and not f.retired}
    return taken | {c.hotkey: f"“{c.name}”" for c in facet.children() if c.hotkey and c.id != besides}


def free_keys(taken: dict[str, str]) -> list[str]:
    return [key for key in DIGITS + LETTERS if key not in taken]
