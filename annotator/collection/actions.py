"""Keeping what was found: frozen copies, taken whole or not at all."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.collection.models import ChangedFile, Comment, Item, ItemText, Patch, Repository
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import Refused


@dataclass(frozen=True)
class CommentCopy:
    author: str
    at: dt.datetime
    body: str
    kind: str = Comment.Kind.COMMENT
    path: str = ""
    line: int | None = None


@dataclass(frozen=True)
class FileCopy:
    path: str
    patch: str
    additions: int
    deletions: int
    status: str = "modified"


@dataclass(frozen=True)
class ItemCopy:
    """An item as it was found, with its text, discussion and files."""

    repository: str
    number: int
    identity: str
    url: str
    title: str
    author: str
    opened_at: dt.datetime
    merged_at: dt.datetime | None
    body: str
    comments: Sequence[CommentCopy] = ()
    files: Sequence[FileCopy] = ()
    kind: str = Item.Kind.PULL_REQUEST


@transaction.atomic
def keep_copies(*, study: Study, copies: Sequence[ItemCopy], by: User) -> list[Item]:
    """Store new items in the order given. An item that is there already is refused, and nothing is stored."""
    known = Item.objects.filter(study=study, identity__in=[copy.identity for copy in copies]).first()
    if known:
        raise Refused(f"{known.reference} is in the study already. Nothing was stored.")
    repositories = {
        label: Repository.objects.get_or_create(study=study, label=label)[0]
        for label in dict.fromkeys(copy.repository for copy in copies)
    }
    now = timezone.now()
    items = Item.objects.bulk_create(_item(study, copy, repositories[copy.repository], now) for copy in copies)
    pairs = list(zip(items, copies, strict=True))
    ItemText.objects.bulk_create(ItemText(item=item, body=copy.body) for item, copy in pairs)
    Comment.objects.bulk_create(comment for item, copy in pairs for comment in _comments(item, copy))
    _keep_files(pairs)
    record("kept copies of items", by=by, kind="collection", study_id=study.pk, new={"items": len(items)})
    return items


def _item(study: Study, copy: ItemCopy, repository: Repository, now: dt.datetime) -> Item:
    return Item(
        study=study,
        kind=copy.kind,
        repository=repository,
        number=copy.number,
        identity=copy.identity,
        url=copy.url,
        title=copy.title,
        state="merged" if copy.merged_at else "open",
        author=copy.author,
        opened_at=copy.opened_at,
        closed_at=copy.merged_at,
        merged_at=copy.merged_at,
        fetched_at=now,
    )


def _comments(item: Item, copy: ItemCopy) -> list[Comment]:
    return [
        Comment(
            item=item,
            position=position,
            kind=comment.kind,
            author=comment.author,
            at=comment.at,
            body=comment.body,
            path=comment.path,
            line=comment.line,
        )
        for position, comment in enumerate(copy.comments, 1)
    ]


def _keep_files(pairs: Sequence[tuple[Item, ItemCopy]]) -> None:
    files = [
        (
            ChangedFile(
                item=item,
                position=position,
                path=file.path,
                status=file.status,
                additions=file.additions,
                deletions=file.deletions,
            ),
            file.patch,
        )
        for item, copy in pairs
        for position, file in enumerate(copy.files, 1)
    ]
    stored = ChangedFile.objects.bulk_create(changed for changed, _ in files)
    Patch.objects.bulk_create(
        Patch(file=changed, text=patch) for changed, (_, patch) in zip(stored, files, strict=True)
    )
