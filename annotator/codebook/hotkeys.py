"""Which key chooses what while labelling: proposed where not given, never twice."""

from collections.abc import Iterable
from dataclasses import replace

from annotator.codebook.document import VERDICT, CategoryDoc, Document, FacetDoc
from annotator.web.errors import BadInput

PAGE = "JKPUNMXZWO?/[]."  # keys of the labelling page itself
DIGITS = "123456789"  # 0 is kept for "not applicable"
LETTERS = "".join(letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in PAGE)


def with_hotkeys(document: Document) -> Document:
    """The same codebook with a key wherever one is free; keys that were given stay, and clashing ones are refused."""
    check(document)
    letters = _facet_letters(document)
    return replace(document, facets=tuple(_filled(f, letters) for f in document.facets))


def check(document: Document) -> None:
    """Refuse a key that two things claim, and name keys that are free."""
    facets = [f for f in document.facets if not f.retired]
    _check_facets(facets)
    taken = {f.hotkey: f for f in facets if f.hotkey}
    for facet in facets:
        for parent in {c.parent for c in facet.active}:
            _check_siblings(facet, facet.children(parent), taken)


def _check_facets(facets: list[FacetDoc]) -> None:
    owner: dict[str, FacetDoc] = {}
    for facet in facets:
        key = facet.hotkey
        if not key:
            continue
        if key in PAGE or key.isdigit():
            free = _some(letter for letter in LETTERS if letter not in owner)
            raise BadInput(f"The key {key} of facet “{facet.title}” belongs to the labelling page. Free: {free}.")
        if key in owner:
            free = _some(letter for letter in LETTERS if letter not in {f.hotkey for f in facets})
            raise BadInput(
                f"The key {key} is given twice: to “{owner[key].title}” and to “{facet.title}”. Free: {free}."
            )
        owner[key] = facet


def _check_siblings(facet: FacetDoc, siblings: tuple[CategoryDoc, ...], facets: dict[str, FacetDoc]) -> None:
    owner: dict[str, CategoryDoc] = {}
    for category in siblings:
        key = category.hotkey
        if not key:
            continue
        if key in PAGE or key in facets:
            whose = f"opens “{facets[key].title}”" if key in facets else "belongs to the labelling page"
            raise BadInput(f"The key {key} of “{category.name}” {whose}. Free: {free_keys(siblings, facets)}.")
        if key in owner:
            raise BadInput(
                f"The key {key} is given twice in facet “{facet.title}”: to “{owner[key].name}” and to “{category.name}”."
                f" Free: {free_keys(siblings, facets)}."
            )
        owner[key] = category


def free_keys(siblings: Iterable[CategoryDoc], facets: Iterable[str]) -> str:
    taken = {c.hotkey for c in siblings} | set(facets)
    return _some(key for key in DIGITS + LETTERS if key not in taken)


def _some(keys: Iterable[str]) -> str:
    return ", ".join(list(keys)[:8]) or "none"


def _facet_letters(document: Document) -> dict[str, str]:
    """The letter that opens each facet: the one given, else the first free one of its name, else any free one."""
    facets = [f for f in document.facets if not f.retired]
    given = {f.id: f.hotkey for f in facets if f.hotkey}
    taken = set(given.values()) | {c.hotkey for f in facets for c in f.active if c.hotkey}
    for facet in facets:
        if facet.id in given or facet.id == VERDICT:
            continue
        choice = next((x for x in facet.title.upper() + LETTERS if x in LETTERS and x not in taken), "")
        given[facet.id] = choice
        taken.add(choice)
    return given


def _filled(facet: FacetDoc, letters: dict[str, str]) -> FacetDoc:
    if facet.id == VERDICT or facet.retired:
        return facet
    keys = iter([k for k in DIGITS + LETTERS if k not in set(letters.values()) | {c.hotkey for c in facet.children()}])
    categories = tuple(
        replace(c, hotkey=next(keys, ""))
        if not (c.hotkey or c.parent or c.retired or c.not_applicable or c.code)
        else c
        for c in facet.categories
    )
    return replace(facet, hotkey=letters.get(facet.id, ""), categories=categories)
