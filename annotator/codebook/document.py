"""A codebook outside the database: frozen, hashable, written out the same way every time."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import yaml

VERDICT = "verdict"
BUG, NOT_A_BUG = "bug", "not a bug"
NOT_APPLICABLE = "not applicable"
RARE_LINE_ENDS = re.compile("[\r\x85\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True)
class CategoryDoc:
    """One answer. `id` is its permanent name, empty until it is stored; `parent` is a category's name."""

    name: str
    id: str = ""
    parent: str = ""
    order: float | None = None
    definition: str = ""
    include: str = ""
    exclude: str = ""
    examples: tuple[str, ...] = ()
    hotkey: str = ""
    aka: tuple[str, ...] = ()
    unverified: bool = False
    not_applicable: bool = False
    code: bool = False  # in somebody's own words, not yet or no longer a category of its own
    retired: bool = False
    merged_into: str = ""  # the id of the category that took its place
    split_from: str = ""  # the id of the category that it is a part of
    redefined_in: int = 0  # number of the version that last changed its meaning


@dataclass(frozen=True, slots=True)
class ApartDoc:
    """How to tell two categories of a facet apart, which it names."""

    first: str
    second: str
    text: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset((self.first, self.second))


Below = dict[str, list[CategoryDoc]]


@dataclass(frozen=True, slots=True)
class FacetDoc:
    """One question and its answers, narrower ones pointing to their parent."""

    id: str
    name: str = ""
    definition: str = ""
    kind: str = "nominal"
    answers: str = "one"
    decided: str = "blind"
    optional: bool = False
    takes_codes: bool = False
    hotkey: str = ""
    retired: bool = False
    categories: tuple[CategoryDoc, ...] = ()
    tell_apart: tuple[ApartDoc, ...] = ()

    @property
    def title(self) -> str:
        return self.name or self.id.replace("_", " ").replace("-", " ").strip().capitalize() or self.id

    @property
    def active(self) -> tuple[CategoryDoc, ...]:
        return tuple(c for c in self.categories if not c.retired)

    def children(self, parent: str = "") -> tuple[CategoryDoc, ...]:
        return tuple(c for c in self.active if c.parent == parent)

    def with_categories(self, *categories: CategoryDoc) -> "FacetDoc":
        """The same with each of these in the place of the one of its id, or at the end."""
        new = {c.id: c for c in categories}
        old = {c.id: c for c in self.categories}
        renamed = {old[key].name: c.name for key, c in new.items() if key in old}
        kept = (new.get(c.id) or replace(c, parent=renamed.get(c.parent, c.parent)) for c in self.categories)
        changed = replace(self, categories=(*kept, *(c for c in categories if c.id not in old)), tell_apart=())
        return replace(changed, tell_apart=tuple(_renamed(self.tell_apart, renamed, changed.active)))

    def below(self) -> Below:
        """The active categories by their parent's name."""
        found: Below = {}
        for category in self.active:
            found.setdefault(category.parent, []).append(category)
        return found

    def tree(self, parent: str = "", depth: int = 0, below: Below | None = None) -> Iterator[tuple[int, CategoryDoc]]:
        """The active categories, each before its narrower ones, with their depth; `below` where it is known already."""
        below = self.below() if below is None else below
        for category in below.get(parent, ()):
            yield depth, category
            yield from self.tree(category.name, depth + 1, below)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole codebook."""

    title: str
    facets: tuple[FacetDoc, ...]
    description: str = ""
    source: str = ""

    def facet(self, key: str) -> FacetDoc | None:
        return next((f for f in self.facets if f.id == key), None)

    def with_facet(self, facet: FacetDoc) -> "Document":
        """The same with this facet in the place of the one of its id, or at the end."""
        if self.facet(facet.id) is None:
            return replace(self, facets=(*self.facets, facet))
        return replace(self, facets=tuple(facet if f.id == facet.id else f for f in self.facets))

    def as_dict(self) -> dict[str, Any]:
        return {
            **_given({"title": self.title, "description": self.description, "source": self.source}),
            "facets": [_facet(f) for f in self.facets],
        }

    def as_yaml(self) -> str:
        text: str = yaml.dump(
            self.as_dict(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False
        )
        return text

    def digest(self) -> str:
        """SHA-256 of its canonical JSON."""
        canonical = json.dumps(self.as_dict(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def with_builtins(self) -> "Document":
        """Every codebook asks whether it is a bug at all, and an optional facet can be answered "not applicable"."""
        facets = tuple(_with_not_applicable(f) for f in self.facets)
        if not any(f.id == VERDICT for f in facets):
            facets = (*facets, verdict())
        return replace(self, facets=facets)

    def without_builtins(self) -> "Document":
        """What a person has to write down: built-in parts that nobody changed are left out."""
        facets = tuple(_without_untouched(f) for f in self.facets if _bare(f) != _bare(verdict()))
        return replace(self, facets=facets)


def _renamed(notes: Iterable[ApartDoc], names: dict[str, str], active: Iterable[CategoryDoc]) -> Iterator[ApartDoc]:
    """A note stays as long as both of its categories are in use."""
    known = {category.name for category in active}
    for note in notes:
        found = replace(note, first=names.get(note.first, note.first), second=names.get(note.second, note.second))
        if found.names <= known:
            yield found


def not_applicable() -> CategoryDoc:
    definition = "The question makes no sense for this bug. This is an answer, unlike leaving the question open."
    return CategoryDoc(name=NOT_APPLICABLE, definition=definition, hotkey="0", not_applicable=True)


REASONS = (
    ("new feature", "It adds something that was never promised before."),
    ("clean-up", "Refactoring, renaming or style: what the program does stays the same."),
    ("documentation", "Only comments, guides or messages to developers change."),
    ("tests only", "Only tests or their data change; the tested code was right."),
    ("upkeep", "Version numbers, continuous integration, releases or reverts without a fault of their own."),
    ("duplicate", "The same fault is in the study already, as another bug."),
    ("not in scope", "It is a fault, but outside what this study looks at."),
    ("cannot be told", "Text, discussion and code together do not show whether there was a fault."),
)


def verdict() -> FacetDoc:
    """The built-in first question: a bug, or not, and then why not."""
    bug = CategoryDoc(name=BUG, definition="Something did not work as it should, and the change mends it.")
    other = CategoryDoc(name=NOT_A_BUG, definition="Nothing was at fault, or not in a way that this study counts.")
    reasons = (CategoryDoc(name=name, parent=NOT_A_BUG, definition=text) for name, text in REASONS)
    return FacetDoc(id=VERDICT, name="Verdict", definition="Is it a bug at all?", categories=(bug, other, *reasons))


def _with_not_applicable(facet: FacetDoc) -> FacetDoc:
    if not facet.optional or any(c.not_applicable for c in facet.active):
        return facet
    extra = not_applicable()
    if any(c.hotkey == extra.hotkey for c in facet.active):
        extra = replace(extra, hotkey="")
    return replace(facet, categories=(*facet.categories, extra))


def _without_untouched(facet: FacetDoc) -> FacetDoc:
    kept = tuple(c for c in facet.categories if replace(c, id="") != not_applicable())
    return replace(facet, categories=kept) if facet.optional else facet


def _bare(facet: FacetDoc) -> FacetDoc:
    return replace(facet, hotkey="", categories=tuple(replace(c, id="", hotkey="") for c in facet.categories))


_FACET = FacetDoc(id="")
_CATEGORY = CategoryDoc(name="")
_FACET_KEYS = ("definition", "kind", "answers", "decided", "optional", "takes_codes", "hotkey", "retired")
_CATEGORY_KEYS = (
    "id",
    "parent",
    "order",
    "definition",
    "include",
    "exclude",
    "examples",
    "hotkey",
    "aka",
    "unverified",
    "not_applicable",
    "code",
    "retired",
    "merged_into",
    "split_from",
    "redefined_in",
)


def _facet(facet: FacetDoc) -> dict[str, Any]:
    rest = {k: getattr(facet, k) for k in _FACET_KEYS if getattr(facet, k) != getattr(_FACET, k)}
    apart = [{"between": [note.first, note.second], "text": note.text} for note in facet.tell_apart]
    categories = [_category(c) for c in facet.categories]
    told = {"id": facet.id, "name": facet.title, **rest, "categories": categories}
    return {**told, "tell_apart": apart} if apart else told


def _category(category: CategoryDoc) -> dict[str, Any]:
    rest = {k: _plain(getattr(category, k)) for k in _CATEGORY_KEYS if getattr(category, k) != getattr(_CATEGORY, k)}
    return {"name": category.name, **rest}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _given(values: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in values.items() if v}


class _Dumper(yaml.SafeDumper):
    """Lists stand indented below their key, as people write them, and nothing is written by reference."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # PyYAML's signature
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Rare line ends are escaped: YAML would read them back as blanks."""
    style = '"' if RARE_LINE_ENDS.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
