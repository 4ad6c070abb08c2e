"""Reading a codebook file: YAML, JSON or CSV, from anybody, checked to the last key."""

import re
from collections.abc import Collection
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from annotator.codebook import document as doc
from annotator.codebook import formats, hotkeys
from annotator.codebook.plain import decoded, parsed, short
from annotator.web.errors import BadInput

MAX_FACETS = 40
MAX_CATEGORIES = 5_000
MAX_DEPTH = 6
MAX_NOTES = 2_000
NAME, TITLE, KEY, TEXT, EXAMPLES = 600, 200, 60, 10_000, 50
FACET_NAME = 120

KEY_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def read(content: str | bytes) -> doc.Document:
    """The codebook in a file: YAML, JSON or CSV. BadInput says what is wrong and where."""
    text = decoded(content)
    return to_document(formats.from_csv(text) if formats.is_csv(text) else parsed(text))


def to_document(raw: Any) -> doc.Document:
    """A codebook from plain dicts and lists, as a file or a stored version holds them."""
    top = _mapping(raw, "The codebook", {"title", "description", "source", "facets"})
    title = _text(top, "title", "The codebook", limit=TITLE).strip()
    if not title:
        raise BadInput("The codebook has no title: add a line “title: …”.")
    facets = [_facet(item, n) for n, item in enumerate(_list(top, "facets", "The codebook", limit=MAX_FACETS), 1)]
    if not facets:
        raise BadInput("The codebook has no facets: add at least one under “facets:”.")
    _refuse_twins(facets)
    made = doc.Document(
        title=title,
        facets=tuple(facets),
        description=_text(top, "description", "The codebook"),
        source=_text(top, "source", "The codebook"),
    )
    hotkeys.check(made)
    return made


FACET_KEYS = frozenset(
    [
        "id",
        "name",
        "definition",
        "kind",
        "answers",
        "decided",
        "optional",
        "takes_codes",
        "hotkey",
        "retired",
        "categories",
        "tell_apart",
    ]
)


def _facet(raw: Any, number: int) -> doc.FacetDoc:
    where = f"Facet {number}"
    raw = _mapping(raw, where, FACET_KEYS)
    key = _text(raw, "id", where, limit=KEY)
    if not KEY_PATTERN.match(key):
        raise BadInput(
            f"{where} needs an id of letters, digits, - and _, such as root_cause; “{short(key)}” is not one."
        )
    where = f"Facet “{key}”"
    facet = doc.FacetDoc(
        id=key,
        name=_text(raw, "name", where, limit=FACET_NAME),
        definition=_text(raw, "definition", where),
        kind=_choice(raw, "kind", where, ("nominal", "ordinal")),
        answers=_choice(raw, "answers", where, ("one", "many")),
        decided=_choice(raw, "decided", where, ("blind", "joint", "rule")),
        optional=_flag(raw, "optional", where),
        takes_codes=_flag(raw, "takes_codes", where),
        hotkey=_hotkey(raw, where),
        retired=_flag(raw, "retired", where),
        categories=tuple(_category(c, where) for c in _list(raw, "categories", where, limit=MAX_CATEGORIES)),
    )
    notes = tuple(_apart(n, where) for n in _list(raw, "tell_apart", where, limit=MAX_NOTES))
    facet = replace(facet, name=facet.title, tell_apart=notes)
    _check_names(facet, where)
    _check_apart(facet, where)
    _check_parents(facet, where)
    _check_order(facet, where)
    _check_builtins(facet, where)
    return facet


CATEGORY_KEYS = frozenset(
    [
        "name",
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
    ]
)


def _category(raw: Any, facet: str) -> doc.CategoryDoc:
    if isinstance(raw, str):
        raw = {"name": raw}
    raw = _mapping(raw, f"A category of {facet[0].lower()}{facet[1:]}", CATEGORY_KEYS)
    name = _text(raw, "name", f"A category of {facet[0].lower()}{facet[1:]}", limit=NAME)
    if not name.strip():
        raise BadInput(f"{facet} has a category without a name: add “name: …”.")
    where = f"{facet}, category “{short(name)}”"
    return doc.CategoryDoc(
        name=name,
        id=_text(raw, "id", where, limit=KEY),
        parent=_text(raw, "parent", where, limit=NAME),
        order=_number(raw, "order", where),
        definition=_text(raw, "definition", where),
        include=_text(raw, "include", where),
        exclude=_text(raw, "exclude", where),
        examples=_texts(raw, "examples", where, limit=TEXT),
        hotkey=_hotkey(raw, where),
        aka=_texts(raw, "aka", where, limit=NAME),
        unverified=_flag(raw, "unverified", where),
        not_applicable=_flag(raw, "not_applicable", where) or (name.casefold() == doc.NOT_APPLICABLE),
        code=_flag(raw, "code", where),
        retired=_flag(raw, "retired", where),
        merged_into=_text(raw, "merged_into", where, limit=KEY),
        split_from=_text(raw, "split_from", where, limit=KEY),
        redefined_in=int(_number(raw, "redefined_in", where) or 0),
    )


def _check_names(facet: doc.FacetDoc, where: str) -> None:
    names: set[str] = set()
    for category in facet.active:
        if category.name in names:
            raise BadInput(f"{where} has the category “{short(category.name)}” twice: keep one.")
        names.add(category.name)
    aliases: dict[str, str] = {}
    for category in facet.active:
        for alias in category.aka:
            owner = alias if alias in names and alias != category.name else aliases.get(alias, category.name)
            if owner != category.name:
                raise BadInput(
                    f"{where}: “{short(alias)}” is another name of “{short(category.name)}”, but also leads to “{short(owner)}”."
                )
            aliases[alias] = category.name
    ids = [c.id for c in facet.categories if c.id]
    if len(ids) != len(set(ids)):
        raise BadInput(f"{where} gives two categories the same id: remove one of the ids.")


def _apart(raw: Any, facet: str) -> doc.ApartDoc:
    where = f"A note of {facet[0].lower()}{facet[1:]} under “tell_apart”"
    raw = _mapping(raw, where, {"between", "text"})
    names = _texts(raw, "between", where, limit=NAME)
    if len(names) != 2 or names[0] == names[1]:
        raise BadInput(f"{where} needs “between” with two different categories, such as [crash, hang].")
    text = _text(raw, "text", where)
    if not text.strip():
        raise BadInput(f"{where} has no “text” that says how to tell them apart.")
    return doc.ApartDoc(names[0], names[1], text)


def _check_apart(facet: doc.FacetDoc, where: str) -> None:
    known, seen = {category.name for category in facet.active}, set()
    for note in facet.tell_apart:
        for name in (note.first, note.second):
            if name not in known:
                hint = _did_you_mean(name, known)
                raise BadInput(f"{where}: a note tells “{short(name)}” apart, which is no category of it{hint}.")
        if note.names in seen:
            raise BadInput(
                f"{where} tells “{short(note.first)}” and “{short(note.second)}” apart twice: keep one note."
            )
        seen.add(note.names)


def _check_parents(facet: doc.FacetDoc, where: str) -> None:
    parents = {c.name: c.parent for c in facet.categories if c.retired} | {c.name: c.parent for c in facet.active}
    for category in facet.categories:
        parent, depth = category.parent, 0
        if parent and parent not in parents:
            hint = _did_you_mean(parent, parents)
            raise BadInput(f"{where}, category “{short(category.name)}”: there is no parent “{short(parent)}”{hint}.")
        while parent:
            depth += 1
            if parent == category.name:
                raise BadInput(
                    f"{where}: “{short(category.name)}” is its own parent, by way of its parents: break the circle."
                )
            if depth > MAX_DEPTH:
                raise BadInput(
                    f"{where}: “{short(category.name)}” lies more than {MAX_DEPTH} levels deep or in a circle: flatten it."
                )
            parent = parents.get(parent, "")


def _check_order(facet: doc.FacetDoc, where: str) -> None:
    if facet.kind != "ordinal":
        return
    scale = [c for c in facet.active if not c.not_applicable]
    ordered = [c for c in scale if c.order is not None]
    if ordered and len(ordered) < len(scale):
        missing = next(c for c in scale if c.order is None)
        raise BadInput(
            f"{where} is ordinal, but “{short(missing.name)}” has no order: give each category one, or none."
        )
    places = {c.order for c in ordered}
    if len(places) < len(ordered):
        raise BadInput(f"{where} is ordinal, but two of its categories share one order: give each its own.")


def _check_builtins(facet: doc.FacetDoc, where: str) -> None:
    if sum(c.not_applicable for c in facet.active) > 1:
        raise BadInput(f"{where} has two categories that mean “not applicable”: keep one.")
    if facet.id == doc.VERDICT and not {doc.BUG, doc.NOT_A_BUG} <= {c.name for c in facet.children()}:
        raise BadInput(f"{where} is built in: it needs the categories “{doc.BUG}” and “{doc.NOT_A_BUG}” at its top.")


def _refuse_twins(facets: list[doc.FacetDoc]) -> None:
    seen: dict[str, str] = {}
    for facet in facets:
        for name in {facet.id.casefold(), facet.title.casefold()}:
            if name in seen:
                raise BadInput(f"Facet “{facet.id}” has the id or name of facet “{seen[name]}”: rename one.")
        seen |= dict.fromkeys({facet.id.casefold(), facet.title.casefold()}, facet.id)
    if len([c for f in facets for c in f.categories]) > MAX_CATEGORIES:
        raise BadInput(f"The codebook has more than {MAX_CATEGORIES} categories; shorten or split it.")


# --- single values


def _mapping(raw: Any, where: str, known: Collection[str]) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise BadInput(
            f"{where} has to be lines of “key: value”, with “{'facets' if 'facets' in known else 'name'}” among them."
        )
    for key in raw:
        if key not in known:
            hint = _did_you_mean(str(key), known)
            raise BadInput(f"{where} has the unknown key “{short(str(key))}”{hint}.")
    return raw


def _list(raw: dict[str, Any], key: str, where: str, *, limit: int) -> list[Any]:
    value = raw.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadInput(f"{where}: “{key}” has to be a list.")
    if len(value) > limit:
        raise BadInput(f"{where}: “{key}” has {len(value)} entries; at most {limit} are possible.")
    return value


def _text(raw: dict[str, Any], key: str, where: str, *, limit: int = TEXT) -> str:
    return _checked(raw.get(key), f"{where}: “{key}”", limit)


def _checked(value: Any, where: str, limit: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        value = str(value).lower()
    if not isinstance(value, str | int | float):
        raise BadInput(f"{where} has to be text.")
    text = str(value)
    if len(text) > limit:
        raise BadInput(f"{where} has {len(text)} characters; at most {limit} are possible.")
    if CONTROL.search(text):
        raise BadInput(f"{where} holds a control character: remove it.")
    return text


def _texts(raw: dict[str, Any], key: str, where: str, *, limit: int) -> tuple[str, ...]:
    value = raw.get(key)
    if isinstance(value, str):
        value = [value]
    found = tuple(_checked(v, f"{where}: “{key}”", limit) for v in _list({key: value}, key, where, limit=EXAMPLES))
    return tuple(v for v in found if v.strip())


def _choice(raw: dict[str, Any], key: str, where: str, choices: tuple[str, ...]) -> str:
    value = _text(raw, key, where).strip().lower() or choices[0]
    if value not in choices:
        raise BadInput(f"{where}: “{key}” is {' or '.join(choices)}, not “{short(value)}”.")
    return value


def _flag(raw: dict[str, Any], key: str, where: str) -> bool:
    value = _text(raw, key, where).strip().lower()
    if value not in {"", "true", "false", "yes", "no", "on", "off"}:
        raise BadInput(f"{where}: “{key}” is true or false, not “{short(value)}”.")
    return value in {"true", "yes", "on"}


def _number(raw: dict[str, Any], key: str, where: str) -> float | None:
    value = _text(raw, key, where, limit=40).strip()
    if not value:
        return None
    if not re.fullmatch(r"-?\d{1,9}(\.\d{1,6})?", value, re.ASCII):
        raise BadInput(f"{where}: “{key}” has to be a number, not “{short(value)}”.")
    return float(value)


def _hotkey(raw: dict[str, Any], where: str) -> str:
    value = _text(raw, "hotkey", where).strip().upper()
    if value and not re.fullmatch(r"[A-Z0-9]", value, re.ASCII):
        raise BadInput(f"{where}: a hotkey is one letter or digit, not “{short(value)}”.")
    return value


def _did_you_mean(word: str, known: Collection[str]) -> str:
    near = get_close_matches(word[:80], [one[:80] for one in list(known)[:500]], n=1)  # seconds for longer ones
    return f" (did you mean “{short(near[0])}”?)" if near else ""
