"""What a rater reads of a bug: the item it belongs to."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.safestring import SafeString

from annotator.collection import source
from annotator.collection.models import ChangedFile
from annotator.collection.source import Source, last_edit, links_of, safe_link
from annotator.sampling.models import Bug

__all__ = ["Source", "file_of", "last_edit", "links_of", "safe_link", "source_of"]


def source_of(
    bug: Bug, *, edited_at: dt.datetime | None = None, links: Iterable[Mapping[str, Any]] | None = None
) -> Source:
    """`bug.item` and its text come along with the bug; the rest with whoever asked for `last_edit` and `links_of`."""
    return source.source_of(bug.item, bug.ordinal, edited_at=edited_at, links=links)


def file_of(bug: Bug, position: int) -> tuple[ChangedFile, SafeString] | None:
    """One file of the copy with its diff, for those that open on demand."""
    return source.file_of(bug.item, position)
