"""What a rater reads of a bug: the item it belongs to."""

from django.utils.safestring import SafeString

from annotator.collection import source
from annotator.collection.models import ChangedFile
from annotator.collection.source import Source, safe_link
from annotator.sampling.models import Bug

__all__ = ["Source", "file_of", "safe_link", "source_of"]


def source_of(bug: Bug) -> Source:
    """`bug.item` and its text come along with the bug."""
    return source.source_of(bug.item, bug.ordinal)


def file_of(bug: Bug, position: int) -> tuple[ChangedFile, SafeString] | None:
    """One file of the copy with its diff, for those that open on demand."""
    return source.file_of(bug.item, position)
