"""Names for raters that say nothing of the person, the same in every export of a study."""

import hashlib
import hmac
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter

from django.conf import settings

from annotator.publication.columns import Row, Table
from annotator.studies.models import Study

Hide = Callable[[str], str]


def pseudonyms_of(study: Study) -> Hide:
    """User name to pseudonym; a text of several names, with blanks between, name by name.

    Made from the server's secret and the study, so nobody without the secret can work back by trying names,
    and a person's pseudonyms in two studies tell nothing of each other.
    """
    secret = hashlib.sha256(f"pseudonyms of {study.pk}:{settings.SECRET_KEY}".encode()).digest()

    @lru_cache(maxsize=1024)
    def hide(names: str) -> str:
        return " ".join(
            f"rater-{hmac.new(secret, name.encode(), hashlib.sha256).hexdigest()[:8]}" for name in names.split()
        )

    return hide


def hidden(table: Table, hide: Hide) -> Table:
    """The table with pseudonyms, its rows in an order that tells nothing of the names."""
    return replace(table, batches=hidden_batches(table, hide))


def hidden_batches(table: Table, hide: Hide) -> Iterator[list[Row]]:
    people = [place for place, column in enumerate(table.columns) if column.people]
    order = [table.place(name) for name in table.sorted_by]
    for batch in table.batches:
        rows = with_pseudonyms(batch, people, hide) if batch else batch
        yield sorted(rows, key=itemgetter(*order)) if order else rows


def with_pseudonyms(batch: list[Row], people: list[int], hide: Hide) -> list[Row]:
    """Column by column: a batch has thousands of rows and few names."""
    columns = list(zip(*batch, strict=True))
    for place in people:
        known = {name: hide(str(name)) for name in set(columns[place])}
        columns[place] = tuple(known[name] for name in columns[place])
    return list(zip(*columns, strict=True))
