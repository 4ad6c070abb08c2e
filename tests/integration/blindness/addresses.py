"""Every address that the resolver knows, filled with what stands in the test's study."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")


def routes(resolver: URLResolver | None = None, before: str = "/") -> Iterator[str]:
    """Each address as it is written in the URL configuration, such as /<slug:slug>/rounds/."""
    for entry in (resolver or get_resolver()).url_patterns:
        if not isinstance(entry.pattern, RoutePattern):
            yield from plain(before, str(entry.pattern))
        elif isinstance(entry, URLResolver):
            yield from routes(entry, before + str(entry.pattern))
        else:
            assert isinstance(entry, URLPattern)
            yield before + str(entry.pattern)


def plain(before: str, expression: str) -> Iterator[str]:
    """A regular expression that stands for one address alone, as sign-in's pages have; others have no page here."""
    address = expression.removeprefix("^").removesuffix("$").removesuffix("\\Z")
    if re.fullmatch(r"[\w/.-]*", address):
        yield before + address


def every_address(values: dict[str, list[Any]]) -> list[str]:
    """One address or more for each route: the product over what its arguments may be here."""
    found = set()
    for route in routes():
        names = ARGUMENT.findall(route)
        unknown = set(names) - set(values)
        assert not unknown, f"{route} takes {sorted(unknown)}: say in the blindness test what may stand there"
        for chosen in product(*(values[name] for name in names)):
            filled = iter(chosen)
            found.add(ARGUMENT.sub(lambda _, filled=filled: str(next(filled)), route))
    return sorted(found)
