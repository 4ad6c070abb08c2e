"""Every address that the resolver knows, filled with what stands in the test's study."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.exceptions import NoReverseMatch

APART = {"admin", "static"}


def patterns(resolver: URLResolver | None = None, namespaces: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Each named pattern with its arguments' names."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            inner = (*namespaces, entry.namespace) if entry.namespace else namespaces
            yield from ((name, names | set(entry.pattern.converters)) for name, names in patterns(entry, inner))
        elif isinstance(entry, URLPattern):
            assert entry.name, f"the address {entry.pattern} has no name, so the blindness test cannot reach it"
            yield ":".join((*namespaces, entry.name)), set(_arguments(entry))


def _arguments(entry: URLPattern) -> set[str]:
    return set(entry.pattern.converters) | set(entry.pattern.regex.groupindex)


def every_address(values: dict[str, list[Any]]) -> list[str]:
    """One address or more for each pattern: the product over what its arguments may be here."""
    found = set()
    for name, arguments in patterns():
        unknown = arguments - set(values)
        assert not unknown, f"{name} takes {sorted(unknown)}: say in the blindness test what may stand there"
        for chosen in _combinations(sorted(arguments), values):
            try:
                found.add(reverse(name, kwargs=chosen))
            except NoReverseMatch:  # a format suffix or the like that does not take this value
                continue
    return sorted(found)


def _combinations(arguments: list[str], values: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    if not arguments:
        yield {}
        return
    first, *rest = arguments
    for value in values[first]:
        for others in _combinations(rest, values):
            yield {first: value, **others}
