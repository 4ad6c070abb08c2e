"""What two versions of a codebook differ in, in words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from annotator.codebook.document import CategoryDoc, Document, FacetDoc

Words = tuple[str, str, str]  # what, as it was, as it is
ADDED, RENAMED, CLARIFIED, REDEFINED, MOVED = "added", "renamed", "clarified", "redefined", "moved"
MERGED, SPLIT, RETIRED, RESTORED, DELETED, FACET = "merged", "split", "retired", "restored", "deleted", "facet"
TOP = "the top level"
WORDING = {
    "definition": "definition",
    "include": "what it includes",
    "exclude": "what it excludes",
    "examples": "examples",
    "aka": "other names",
    "hotkey": "key",
    "unverified": "whether it is checked against its source",
}
SHAPE = {
    "definition": "question",
    "kind": "kind",
    "answers": "number of answers",
    "decided": "who decides",
    "optional": "whether it may be not applicable",
    "takes_codes": "whether it takes free codes",
    "hotkey": "key",
}


@dataclass(frozen=True)
class Difference:
    """One thing that is different: a sentence without its full stop, and the wordings that changed."""

    kind: str
    facet: str
    says: str
    uid: str = ""
    words: tuple[Words, ...] = ()
    others: frozenset[str] = field(default=frozenset())  # further categories that it touches

    @property
    def uids(self) -> frozenset[str]:
        return self.others | ({self.uid} if self.uid else frozenset())


def differences(old: Document, new: Document) -> list[Difference]:
    """In the order of the newer one. Categories are told apart by their ids, so a new name is no new category."""
    return [*_whole(old, new), *(each for facet in _facets(old, new) for each in facet)]


def summary(found: Iterable[Difference], *, most: int = 6) -> str:
    """One sentence: “Crash” was renamed “Abort”; “Hang” was merged into it; and 3 more changes."""
    listed = list(found)
    said: list[str] = []
    for place, each in enumerate(listed[:most]):
        before = listed[place - 1] if place else None
        follows = each.kind == MERGED and before is not None and before.uid in each.others and before.kind == RENAMED
        said.append(f"{each.says.partition(' was merged into ')[0]} was merged into it" if follows else each.says)
    if left := len(listed) - most:
        said += [f"and {left} more {'change' if left == 1 else 'changes'}"] if left > 0 else []
    return "; ".join(said)


def quoted(name: str) -> str:
    text = " ".join(name.split())
    return f"“{text if len(text) <= 60 else f'{text[:57]}…'}”"


def listed(names: Iterable[str]) -> str:
    """“A”, “B” and “C”."""
    said = [quoted(name) for name in names]
    return " and ".join(filter(None, (", ".join(said[:-1]), said[-1]))) if said else ""


# --- the whole and its facets


def _whole(old: Document, new: Document) -> Iterator[Difference]:
    for name in ("title", "description", "source"):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            yield Difference(FACET, "", f"The codebook’s {name} was changed", words=((name, was, now),))


def _facets(old: Document, new: Document) -> Iterator[Iterable[Difference]]:
    before = {facet.id: facet for facet in old.facets}
    for facet in new.facets:
        if facet.id in before:
            yield _Facet(before[facet.id], facet).differences()
        else:
            yield [Difference(FACET, facet.id, f"The facet {quoted(facet.title)} was added")]
    kept = {facet.id for facet in new.facets}
    for facet in old.facets:
        if facet.id not in kept:
            yield [Difference(FACET, facet.id, f"The facet {quoted(facet.title)} was removed")]


@dataclass(frozen=True)
class _Facet:
    """One facet in both versions."""

    old: FacetDoc
    new: FacetDoc

    @cached_property
    def before(self) -> Mapping[str, CategoryDoc]:
        return {category.id: category for category in self.old.categories}

    @cached_property
    def after(self) -> Mapping[str, CategoryDoc]:
        return {category.id: category for category in self.new.categories}

    @cached_property
    def ids_before(self) -> Mapping[str, str]:
        return _by_name(self.old)

    @cached_property
    def ids_after(self) -> Mapping[str, str]:
        return _by_name(self.new)

    @cached_property
    def parts(self) -> Mapping[str, list[CategoryDoc]]:
        """What is new and was split from a category, by its id."""
        found: dict[str, list[CategoryDoc]] = {}
        for category in self.new.categories:
            if category.split_from and category.id not in self.before:
                found.setdefault(category.split_from, []).append(category)
        return found

    def name(self, uid: str) -> str:
        found = self.after.get(uid) or self.before.get(uid)
        return found.name if found else uid

    def differences(self) -> Iterator[Difference]:
        yield from self._shape()
        merged: dict[str, list[str]] = {}
        for uid, now in self.after.items():
            was = self.before.get(uid)
            if now.merged_into and not (was and was.merged_into == now.merged_into):
                merged.setdefault(now.merged_into, []).append(uid)
        for uid, now in self.after.items():
            yield from self._category(uid, self.before.get(uid), now)
            if uid in merged:
                yield self._merge(merged[uid], uid)
        for uid, was in self.before.items():
            if uid not in self.after:
                yield Difference(DELETED, self.new.id, f"{quoted(was.name)} was deleted", uid)
        yield from self._apart()

    def _apart(self) -> Iterator[Difference]:
        """Notes on pairs, by the ids of both."""
        was, now = _notes(self.old, self.ids_before), _notes(self.new, self.ids_after)
        for pair in [*now, *(pair for pair in was if pair not in now)]:
            before, after = was.get(pair, ""), now.get(pair, "")
            if before != after and pair <= self.before.keys() | self.after.keys():
                first, second = sorted(pair, key=list({**self.after, **self.before}).index)
                done = "was written" if not before else "was changed" if after else "was withdrawn"
                said = f"How to tell {quoted(self.name(first))} from {quoted(self.name(second))} {done}"
                words = (("how to tell them apart", before, after),)
                yield Difference(CLARIFIED, self.new.id, said, first, words=words, others=frozenset([second]))

    def _shape(self) -> Iterator[Difference]:
        if self.old.title != self.new.title:
            said = f"The facet {quoted(self.old.title)} was renamed {quoted(self.new.title)}"
            yield Difference(FACET, self.new.id, said)
        words = tuple(_words(self.old, self.new, SHAPE))
        if words:
            what = ", ".join(name for name, _, _ in words)
            yield Difference(FACET, self.new.id, f"The facet {quoted(self.new.title)} was changed: {what}", words=words)

    def _category(self, uid: str, was: CategoryDoc | None, now: CategoryDoc) -> Iterator[Difference]:
        if was is None:
            yield from self._added(uid, now)
            return
        if was.name != now.name:
            said = f"{quoted(was.name)} was renamed {quoted(now.name)}"
            yield Difference(RENAMED, self.new.id, said, uid, words=(("name", was.name, now.name),))
        words = tuple(_words(was, now, WORDING))
        if was.redefined_in != now.redefined_in:
            yield Difference(REDEFINED, self.new.id, f"{quoted(now.name)} was changed in meaning", uid, words=words)
        elif words and not now.retired:
            what = ", ".join(name for name, _, _ in words)
            yield Difference(CLARIFIED, self.new.id, f"{quoted(now.name)} was clarified: {what}", uid, words=words)
        yield from self._place(uid, was, now)
        yield from self._state(uid, was, now)

    def _added(self, uid: str, now: CategoryDoc) -> Iterator[Difference]:
        if now.merged_into:
            return
        if not now.split_from:
            yield Difference(ADDED, self.new.id, f"{quoted(now.name)} was added to {quoted(self.new.title)}", uid)
        if now.retired:
            yield Difference(RETIRED, self.new.id, f"{quoted(now.name)} was retired", uid)

    def _place(self, uid: str, was: CategoryDoc, now: CategoryDoc) -> Iterator[Difference]:
        if now.retired or was.retired:
            return
        before, after = self.ids_before.get(was.parent, ""), self.ids_after.get(now.parent, "")
        if before != after:
            where = f"below {quoted(self.name(after))}" if after else f"to {TOP}"
            said = f"{quoted(now.name)} was moved {where}"
            names = (self.name(before) if before else TOP, self.name(after) if after else TOP)
            yield Difference(MOVED, self.new.id, said, uid, words=(("place", *names),))
        elif was.order != now.order:
            said = f"{quoted(now.name)} was moved on the scale"
            yield Difference(MOVED, self.new.id, said, uid, words=(("order", f"{was.order}", f"{now.order}"),))
        elif was.code != now.code:
            said = f"{quoted(now.name)} {'waits to be placed again' if now.code else 'is no code any more'}"
            yield Difference(MOVED, self.new.id, said, uid)

    def _state(self, uid: str, was: CategoryDoc, now: CategoryDoc) -> Iterator[Difference]:
        parts = self.parts.get(uid, [])
        if now.retired and not was.retired and parts:
            said = f"{quoted(now.name)} was split into {listed(part.name for part in parts)}"
            yield Difference(SPLIT, self.new.id, said, uid, others=frozenset(part.id for part in parts))
        elif now.retired and not was.retired and not now.merged_into:
            yield Difference(RETIRED, self.new.id, f"{quoted(now.name)} was retired", uid)
        elif was.retired and not now.retired:
            yield Difference(RESTORED, self.new.id, f"{quoted(now.name)} was taken back into use", uid)

    def _merge(self, sources: list[str], into: str) -> Difference:
        verb = "was" if len(sources) == 1 else "were"
        said = f"{listed(map(self.name, sources))} {verb} merged into {quoted(self.name(into))}"
        return Difference(MERGED, self.new.id, said, sources[0], others=frozenset([*sources[1:], into]))


def _words(old: object, new: object, names: Mapping[str, str]) -> Iterator[Words]:
    for name, said in names.items():
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            yield said, _plain(was), _plain(now)


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return "\n".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _notes(facet: FacetDoc, ids: Mapping[str, str]) -> dict[frozenset[str], str]:
    return {frozenset(ids.get(name, "") for name in note.names): note.text for note in facet.tell_apart}


def _by_name(facet: FacetDoc) -> dict[str, str]:
    """Ids by name, as a document names parents: the active bearer of a name comes first."""
    return {each.name: each.id for each in sorted(facet.categories, key=lambda each: not each.retired)}
