"""Puts what GitHub sent into the study's items. A pull request that is there already is filled in, never doubled.

What is held stays as it was found: a copy is taken once.
"""

from collections.abc import Sequence

from django.db.models import Q
from django.utils import timezone

from annotator.clients.github import copies
from annotator.collection.linking import keep_links
from annotator.collection.models import ChangedFile, Comment, Commit, Item, ItemText, Patch, Repository
from annotator.studies.models import Study


def is_whole(copy: copies.Copy) -> bool:
    """Nothing more to ask for, neither the rest of a list nor files."""
    return not copy.missing and (isinstance(copy, copies.IssueCopy) or copy.changed_files == 0)


def keep_threads(*, study: Study, repository: Repository, found: Sequence[copies.Copy]) -> dict[int, Item]:
    """The items of these copies by number, with text and discussion; a copy with gaps keeps its discussion for later."""
    items = {copy.number: item for copy, item in _known(study, repository, found)}
    new = [copy for copy in found if copy.number not in items]
    made = [_described(Item(study=study, repository=repository), copy) for copy in new]
    for item in made:
        item.identity = repository.identity_of(item.number or 0)
    items |= {item.number or 0: item for item in Item.objects.bulk_create(made)}
    fill = [copy for copy in found if copy not in new and items[copy.number].fetched_at is None]
    # whoever locks several items does it in this order
    for copy in sorted(fill, key=lambda copy: items[copy.number].pk):
        _described(items[copy.number], copy).save()
    pairs = [(items[copy.number], copy) for copy in (*new, *fill)]
    _keep_parts(pairs)
    keep_links(study=study, host=repository.host, pairs=[pair for pair in pairs if not pair[1].missing])
    return items


def _known(study: Study, repository: Repository, found: Sequence[copies.Copy]) -> list[tuple[copies.Copy, Item]]:
    by_identity = {repository.identity_of(copy.number): copy for copy in found}
    by_number = {copy.number: copy for copy in found}
    by_url = {copy.url: copy for copy in found if copy.url}
    here = Q(repository=None) | Q(repository=repository) | Q(repository__github_id=None)
    same = Q(identity__in=by_identity) | Q(repository=repository, number__in=by_number) | Q(here, url__in=by_url)
    items = Item.objects.filter(same, study=study).order_by("-pk")
    ranked = sorted(items, key=lambda item: item.identity in by_identity)  # the last one of a number stands
    pairs = []
    for item in ranked:
        copy = by_identity.get(item.identity) or by_url.get(item.url)
        if copy is None and item.number is not None:
            copy = by_number.get(item.number)
        if copy is not None:
            pairs.append((copy, item))
    return pairs


def _described(item: Item, copy: copies.Copy) -> Item:
    """Fills in what GitHub knows; title and address that a sheet gave stay."""
    item.kind = copy.kind
    item.number = item.number if item.number is not None else copy.number
    item.url = item.url or copy.url
    item.title = item.title or copy.title
    item.state = copy.state
    item.author = copy.author[:200]
    item.opened_at, item.closed_at = copy.opened_at, copy.closed_at
    item.merged_at = copy.merged_at if isinstance(copy, copies.PullRequestCopy) else None
    item.labels = [label.name for label in copy.labels]
    item.fetched_at = timezone.now() if is_whole(copy) else None
    return item


def _keep_parts(pairs: Sequence[tuple[Item, copies.Copy]]) -> None:
    ItemText.objects.bulk_create((ItemText(item=item, body=copy.body) for item, copy in pairs), ignore_conflicts=True)
    whole = [(item, copy) for item, copy in pairs if not copy.missing]
    _keep_discussion(whole)


def _keep_discussion(pairs: Sequence[tuple[Item, copies.Copy]]) -> None:
    comments = [turn for item, copy in pairs for turn in _comments(item, copy)]
    commits = [commit for item, copy in pairs for commit in _commits(item, copy)]
    Comment.objects.bulk_create(comments, ignore_conflicts=True)
    Commit.objects.bulk_create(commits, ignore_conflicts=True)


def _comments(item: Item, copy: copies.Copy) -> list[Comment]:
    return [
        Comment(
            item=item,
            position=position,
            kind=turn.kind,
            author=turn.author[:200],
            at=turn.at,
            body=turn.body,
            path=turn.path,
            line=turn.line,
            verdict=turn.state[:20],
            github_id=turn.id or None,
        )
        for position, turn in enumerate(copy.comments, 1)
    ]


def _commits(item: Item, copy: copies.Copy) -> list[Commit]:
    if not isinstance(copy, copies.PullRequestCopy):
        return []
    return [
        Commit(
            item=item,
            position=position,
            sha=commit.sha,
            message=commit.message,
            author=commit.author[:200],
            at=commit.at,
        )
        for position, commit in enumerate(copy.commits, 1)
    ]


def keep_rest(*, study: Study, host: str, item: Item, copy: copies.Copy | None, files: copies.FilesCopy | None) -> None:
    """What the page left out, and the files; from then on the item's copy is taken."""
    if copy is not None:
        item.labels = [label.name for label in copy.labels]
        _keep_discussion([(item, copy)])
        keep_links(study=study, host=host, pairs=[(item, copy)])
    if files is not None and not item.files.exists():
        _keep_files(item, files.files)
    item.fetched_at = timezone.now()
    item.save(update_fields=["labels", "fetched_at"])


def _keep_files(item: Item, files: Sequence[copies.FileCopy]) -> None:
    rows = [
        ChangedFile(
            item=item,
            position=position,
            path=file.path,
            old_path=file.old_path,
            status=file.status[:12],
            additions=file.additions,
            deletions=file.deletions,
            note=file.note,
        )
        for position, file in enumerate(files, 1)
    ]
    stored = ChangedFile.objects.bulk_create(rows)
    pairs = zip(stored, files, strict=True)
    Patch.objects.bulk_create(Patch(file=row, text=file.patch) for row, file in pairs if file.patch is not None)
