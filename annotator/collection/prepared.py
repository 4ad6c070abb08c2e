"""What is read of an item's copy whenever it is shown, written once."""

from annotator.collection.models import ChangedFile, Comment, Commit, Context
from annotator.web.prepared import Prepared

MOST_FILES = 300  # of a page; GitHub gives up to 3,000
FILES = Prepared(lambda item: ChangedFile.objects.filter(item=item).select_related("patch")[:MOST_FILES], "item")
COMMENTS = Prepared(lambda item: Comment.objects.filter(item=item), "item")
COMMITS = Prepared(lambda item: Commit.objects.filter(item=item), "item")
CONTEXT = Prepared(
    lambda item, ordinal: Context.objects.filter(item=item, ordinal=ordinal).order_by("pk")[:1], "item", "ordinal"
)
