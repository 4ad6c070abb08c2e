"""Ids as runs [first, last]: an import's tens of thousands in a few pairs."""

from collections.abc import Iterable

from annotator.web.withdrawing import Spans


def spans_of(ids: Iterable[int]) -> Spans:
    out: Spans = []
    for pk in sorted(ids):
        if out and out[-1][1] == pk - 1:
            out[-1][1] = pk
        else:
            out.append([pk, pk])
    return out


def ids_in(spans: Spans) -> list[int]:
    return [pk for first, last in spans for pk in range(first, last + 1)]
