"""What may hold a bug: items as they were found, the harvests that found them, and which of them read alike."""

from annotator.collection.models.harvests import Budget, Fault, Finding, GitHubToken, Harvest, Window
from annotator.collection.models.items import (
    ChangedFile,
    Comment,
    Commit,
    Context,
    Edit,
    Item,
    ItemText,
    Link,
    Patch,
    Repository,
)
from annotator.collection.models.likeness import Comparison, NearDuplicate

__all__ = [
    "Budget",
    "ChangedFile",
    "Comment",
    "Commit",
    "Comparison",
    "Context",
    "Edit",
    "Fault",
    "Finding",
    "GitHubToken",
    "Harvest",
    "Item",
    "ItemText",
    "Link",
    "NearDuplicate",
    "Patch",
    "Repository",
    "Window",
]
