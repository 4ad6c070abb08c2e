"""Names for raters that say nothing of the person, the same in every export of a study."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from annotator.publication.columns import Batch, Table
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
    """The table with pseudonyms."""
    people = {place for place, column in enumerate(table.columns) if column.people}

    def written(batch: Batch) -> Batch:
        return [cells.written(hide) if place in people else cells for place, cells in enumerate(batch)]

    return replace(table, batches=map(written, table.batches))
