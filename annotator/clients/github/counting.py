"""How many hits several repositories hold together: one request, one try, and no waiting."""

from collections.abc import Mapping, Sequence

from annotator.clients.github import parse
from annotator.clients.github.errors import Broken
from annotator.clients.github.search import Query
from annotator.clients.github.windows import Count, Window
from annotator.clients.github.wire import Ask, Key, Wire

TIMEOUT = 8  # seconds that somebody waits before a page


def count_at_once(base_url: str, keys: Sequence[Key], queries: Sequence[Query], window: Window) -> Count:
    """The queries differ in their repositories alone. Raises what `wire` raises."""
    first, *others = queries
    terms = [*(f"repo:{query.repository}" for query in others), first.within(window)]
    wire = Wire(base_url, keys, timeout=TIMEOUT)
    try:
        ask = Ask("GET", "/search/issues", "search", parameters={"q": " ".join(terms), "per_page": 1})
        answer = wire.send(ask, tries=1)
    finally:
        wire.close()
    if answer.status != 200 or not isinstance(answer.data, Mapping):
        raise Broken(answer.message or f"GitHub answers {answer.status}")
    return Count(parse.whole(answer.data.get("total_count")), is_complete=not answer.data.get("incomplete_results"))
