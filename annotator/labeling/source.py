"""What a rater reads of a bug: the item it belongs to."""

import datetime as dt

from django.utils.safestring import SafeString

from annotator.collection import source
from annotator.collection.models import ChangedFile
from annotator.collection.source import Source, last_edit, safe_link
from annotator.sampling.models import Bug

__all__ = ["Source", "file_of", "last_edit", "safe_link", "source_of"]


def source_of(bug: Bug, *, edited_at: dt.datetime | None = None) -> Source:
    """`bug.item` and its text come along with the bug; `edited_at` with whoever asked for `last_edit`."""
    return source.source_of(bug.item, bug.ordinal, edited_at=edited_at)


def file_of(bug: Bug, position: int) -> tuple[ChangedFile, SafeString] | None:
    """One file of the copy with its diff, for those that open on demand."""
    return source.file_of(bug.item, position)
