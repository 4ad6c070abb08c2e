"""What a cell means: blanks, spelling, several labels in one cell, and the category that each names."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from annotator.intake.mapping import Clean

ZERO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
BLANK = r"\s\u2800\u3164"  # with the two letters that print nothing
JOINERS = "\u200c\u200d"  # alone between letters they spell, as in Persian and in emoji
GAP = re.compile(f"[{BLANK}{ZERO_WIDTH}]+")
PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*\Z")  # nothing to trim: most cells
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
LONGEST_LABEL = 600  # what its column takes
PATHS = (" > ", " › ", " / ")


def trim(text: str) -> str:
    """Without blanks and zero-width characters at the ends; a run of them inside is one space."""
    if PLAIN.match(text):
        return text
    return GAP.sub(lambda run: run[0] if not run[0].strip(JOINERS) else " ", text).strip(" " + JOINERS)


def is_blank(text: str) -> bool:
    return not text or not GAP.sub("", text)


class Cleaner:
    """Cells made comparable in the way a mapping says."""

    def __init__(self, clean: Clean) -> None:
        self.clean = clean
        self.blanks = frozenset(self.key(word) for word in clean.blank)

    def tidy(self, text: str) -> str:
        """As it is shown: trimmed and normalised, case kept."""
        if self.clean.normalise:
            text = unicodedata.normalize(self.clean.normalise, text)
        return trim(text) if self.clean.trim else text

    def key(self, text: str) -> str:
        """As it is compared."""
        text = self.tidy(text)
        return text.casefold() if self.clean.fold_case else text

    def is_blank(self, text: str) -> bool:
        return is_blank(text) or self.key(text) in self.blanks


@dataclass(frozen=True, slots=True)
class Choice:
    """A category as a sheet may name it. `reference` is the caller's own; a path leads from the top."""

    reference: object
    name: str
    uid: str = ""
    aka: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    is_retired: bool = False


@dataclass(frozen=True, slots=True)
class New:
    """A label that the codebook lacks and the mapping allows to add."""

    name: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a cell cannot be taken."""

    code: str
    text: str


@dataclass(slots=True)
class Reader:
    """Reads the cells of one facet. The same cell is looked up once."""

    facet: str
    is_many: bool
    choices: Iterable[Choice]
    cleaner: Cleaner
    aliases: dict[str, str] = field(default_factory=dict)
    split: "re.Pattern[str] | None" = None
    may_add: bool = False
    added: dict[str, New] = field(default_factory=dict)  # in the order met
    problems: list[Problem] = field(default_factory=list)  # of the aliases
    missing: dict[str, None] = field(default_factory=dict)  # labels met that the facet lacks
    _lookup: dict[str, object] = field(default_factory=dict)
    _ambiguous: dict[str, list[str]] = field(default_factory=dict)
    _retired: set[str] = field(default_factory=set)
    _aliases: dict[str, object] = field(default_factory=dict)
    _seen: "dict[str, tuple[object, ...] | Problem]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = list(self.choices)
        active = [choice for choice in known if not choice.is_retired]
        self._retired = {self.cleaner.key(choice.name) for choice in known if choice.is_retired}
        self.learn(active, lambda choice: [choice.name])
        self.learn(
            active, lambda choice: [mark.join((*choice.parents, choice.name)) for mark in PATHS if choice.parents]
        )
        self.learn(active, lambda choice: list(choice.aka))
        self.learn(active, lambda choice: [choice.uid] if choice.uid else [])
        for spelling, target in self.aliases.items():
            self.learn_alias(spelling, target)

    def learn(self, choices: list[Choice], spellings: Callable[[Choice], list[str]]) -> None:
        """Spellings of one kind; those of an earlier kind win, two categories of the same kind clash."""
        found: dict[str, list[Choice]] = {}
        for choice in choices:
            for key in dict.fromkeys(map(self.cleaner.key, spellings(choice))):
                found.setdefault(key, []).append(choice)
        for key, named in found.items():
            if key in self._lookup or key in self._ambiguous:
                continue
            if len(named) == 1:
                self._lookup[key] = named[0].reference
            else:
                self._ambiguous[key] = [" > ".join((*choice.parents, choice.name)) for choice in named]

    def learn_alias(self, spelling: str, target: str) -> None:
        reference = self._lookup.get(self.cleaner.key(target))
        if reference is None:
            text = f"The alias “{spelling}” of {self.facet} leads to “{target}”, which is no category of it."
            self.problems.append(Problem("alias_to_nothing", text))
            return
        self._aliases[self.cleaner.key(spelling)] = reference

    def read(self, cell: str) -> "tuple[object, ...] | Problem":
        """The categories that the cell names, each once, in its order; none for a blank."""
        found = self._seen.get(cell)
        if found is None:
            found = self._seen[cell] = self.look_up(cell)
        return found

    def look_up(self, cell: str) -> "tuple[object, ...] | Problem":
        if self.cleaner.is_blank(cell):
            return ()
        pieces = self.pieces(cell)
        out: dict[object, None] = {}
        for piece in pieces:
            found = self.category(piece)
            if isinstance(found, Problem):
                return found
            out[found] = None
        if len(out) > 1 and not self.is_many:
            said = ", ".join(f"“{piece}”" for piece in pieces)
            return Problem("several_answers", f"{self.facet} takes one answer and the cell gives {len(out)}: {said}.")
        return tuple(out)

    def pieces(self, cell: str) -> list[str]:
        """A cell that is itself a category or an alias is not cut."""
        whole = self.cleaner.key(cell)
        if self.split is None or whole in self._lookup or whole in self._aliases:
            return [self.cleaner.tidy(cell)]
        parts, start = [], 0
        for mark in self.split.finditer(cell):
            parts.append(cell[start : mark.start()])
            start = mark.end()
        parts.append(cell[start:])
        return [self.cleaner.tidy(part) for part in parts if not self.cleaner.is_blank(part)]

    def category(self, piece: str) -> "object | Problem":
        key = self.cleaner.key(piece)
        for lookup in (self._aliases, self._lookup, self.added):
            if key in lookup:
                return lookup[key]
        if key in self._ambiguous:
            return Problem("ambiguous_label", f"“{piece}” names several categories: {'; '.join(self._ambiguous[key])}.")
        if self.may_add:
            return self.add(key, piece)
        if key in self._retired:
            return Problem("retired_label", f"“{shorten(piece)}” is retired in {self.facet}: give an alias for it.")
        self.missing[piece] = None
        text = f"“{shorten(piece)}” is no category of {self.facet}: correct it, give an alias, or allow new categories."
        return Problem("unknown_label", text)

    def add(self, key: str, piece: str) -> "New | Problem":
        if CONTROL.search(piece):
            shown = shorten(CONTROL.sub("?", piece))
            text = f"“{shown}” holds a control character, so it cannot be a category of {self.facet}."
            return Problem("control_character", text)
        if len(piece) > LONGEST_LABEL:
            return Problem(
                "label_too_long",
                f"{len(piece):,} characters are too long for a category of {self.facet} ({LONGEST_LABEL}).",
            )
        self.added[key] = New(piece)
        return self.added[key]


def shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:77]}…"
