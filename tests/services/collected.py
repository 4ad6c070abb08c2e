"""What harvests left in a study, as plain values: the same however they came about."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet

from annotator.collection.models import (
    ChangedFile,
    Comment,
    Commit,
    Finding,
    Harvest,
    Item,
    ItemText,
    Link,
    Patch,
    Window,
)
from annotator.collection.queries import statement_of
from annotator.studies.models import Study

ITEM = ("kind", "number", "identity", "title", "state", "author", "opened_at", "closed_at", "merged_at", "labels")
COMMENT = ("position", "kind", "author", "at", "body", "path", "line", "verdict", "github_id")
FILE = ("position", "path", "old_path", "status", "additions", "deletions", "note")
FINDING = ("repository__label", "number", "state", "reason", "item__identity", "lacks", "changed_files", "updated_at")
WINDOW = ("repository__label", "starts", "ends", "state", "hits", "is_capped", "is_partial")
LINK = ("host", "owner", "name", "number", "source", "title", "target__identity")
Rows = list[list[Any]]


def state_of(study: Study) -> dict[str, Rows]:
    """Without keys and times of our own."""
    of_item = {
        "comments": (Comment, COMMENT),
        "commits": (Commit, ("position", "sha", "message", "author", "at")),
        "files": (ChangedFile, FILE),
        "links": (Link, LINK),
        "texts": (ItemText, ("body",)),
    }
    held = {
        name: rows(model.objects.filter(item__study=study), ("item__identity", *columns))
        for name, (model, columns) in of_item.items()
    }
    patches = Patch.objects.filter(file__item__study=study)
    return held | {
        "items": rows(Item.objects.filter(study=study, fetched_at__isnull=False), ITEM),
        "patches": rows(patches, ("file__item__identity", "file__position", "text")),
        "findings": rows(Finding.objects.filter(harvest__study=study), FINDING),
        "windows": rows(Window.objects.filter(harvest__study=study), WINDOW),
        "statements": [[asdict(statement_of(harvest))] for harvest in Harvest.objects.filter(study=study)],
    }


def rows(found: "QuerySet[Any]", columns: Sequence[str]) -> Rows:
    return sorted(([*row] for row in found.values_list(*columns)), key=lambda row: json.dumps(row, default=str))


def digest_of(study: Study) -> str:
    return hashlib.sha256(json.dumps(state_of(study), default=str, sort_keys=True).encode()).hexdigest()
