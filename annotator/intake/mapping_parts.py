"""The pieces of a mapping file: where a value comes from, and checks that name the place of a mistake."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotator.web.errors import BadInput


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the sheet: a header's name or `#n`."""

    reference: str


@dataclass(frozen=True, slots=True)
class Constant:
    """The same text for every row."""

    value: str


Source = Column | Constant


class Part:
    """A dict of the mapping at a named place; it says where what is wrong."""

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise BadInput(f"{path or 'The mapping'} must be a list of “name: value” pairs, not {kind_of(value)}.")
        self.values, self.path = value, path

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def only(self, known: Iterable[str]) -> None:
        for key in self.values:
            if key not in known:
                raise BadInput(f"The mapping has an unknown key “{self.at(key)}”; known are {', '.join(known)}.")

    def part(self, key: str) -> "Part":
        value = self.values.get(key)
        return Part({} if value is None else value, self.at(key))

    def text(self, key: str, default: str) -> str:
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise BadInput(f"{self.at(key)} must be text, not {kind_of(value)}.")
        return value

    def one_of(self, key: str, known: tuple[str, ...], default: str) -> str:
        value = self.text(key, default)
        if value.lower() not in known:
            raise BadInput(f"{self.at(key)} must be one of {', '.join(known)}, not “{value}”.")
        return value.lower()

    def flag(self, key: str, default: bool) -> bool:
        if isinstance(self.values.get(key), bool):
            return bool(self.values[key])
        value = self.text(key, "true" if default else "false").lower()
        if value not in ("true", "false", "yes", "no"):
            raise BadInput(f"{self.at(key)} must be true or false, not “{value}”.")
        return value in ("true", "yes")

    def count(self, key: str, default: int, *, least: int, most: int) -> int:
        given = self.values.get(key)
        value = str(given) if type(given) is int else self.text(key, str(default))
        if not value.isascii() or not value.isdigit() or len(value) > 9 or not least <= int(value) <= most:
            raise BadInput(f"{self.at(key)} must be a whole number from {least} to {most}, not “{value}”.")
        return int(value)

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of texts, or one text; null in the list is the empty text."""
        value = self.values.get(key)
        if value is None:
            return default
        listed = value if isinstance(value, list) else [value]
        for entry in listed:
            if not isinstance(entry, str | None):
                raise BadInput(f"{self.at(key)} must be a list of texts; it holds {kind_of(entry)}.")
        return tuple(entry or "" for entry in listed)

    def source(self, key: str) -> Source | None:
        value = self.values.get(key)
        return None if value is None else source_from(value, self.at(key))

    def sources(self, skip: Iterable[str] = ()) -> dict[str, Source]:
        return {key: source_from(value, self.at(key)) for key, value in self.values.items() if key not in skip}


def source_from(value: Any, path: str) -> Source:
    """A column's name, `#n`, or `{value: x}`."""
    if isinstance(value, str) and value.strip():
        return Column(value)
    if isinstance(value, dict) and set(value) == {"value"} and isinstance(value["value"], str | None):
        return Constant(value["value"] or "")
    raise BadInput(
        f"{path} must name a column, its place as “#3”, or a constant as {{value: x}}; it is {kind_of(value)}."
    )


def source_document(source: Source) -> Any:
    return source.reference if isinstance(source, Column) else {"value": source.value}


def kind_of(value: Any) -> str:
    if value is None or value == "":
        return "empty"
    if isinstance(value, dict):
        return f"the pairs {{{', '.join(map(str, value))}}}"
    if isinstance(value, list):
        return "a list"
    return f"the text “{value}”"
