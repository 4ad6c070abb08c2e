"""Keeping what was found: frozen copies, taken whole or not at all."""

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max, ProtectedError
from django.utils import timezone

from annotator.accounts.models import User
from annotator.collection.models import (
    ChangedFile,
    Comment,
    Finding,
    Harvest,
    Item,
    ItemText,
    Patch,
    Repository,
    Window,
)
from annotator.collection.repositories import is_called
from annotator.collection.wanted import Wanted, from_document
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused


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


@transaction.atomic
def start_harvest(*, study: Study, wanted: Wanted, by: User | None, host: str = "github.com") -> Harvest:
    """A harvest that waits; its windows are opened once GitHub has shown its repositories: see `placing`."""
    Study.objects.select_for_update().get(pk=study.pk)  # two at once would take the same number
    last = Harvest.objects.filter(study=study).order_by("-number").values_list("number", flat=True).first() or 0
    harvest = Harvest.objects.create(study=study, number=last + 1, query=wanted.document(), host=host, created_by=by)
    tell("started a harvest", harvest, by=by, new=harvest.query)
    return harvest


@dataclass(frozen=True)
class Place:
    """A repository on a forge, by the id that stays through renames; `asked` is the name that led there."""

    github_id: int
    host: str
    owner: str
    name: str
    asked: str = ""

    @property
    def names(self) -> set[str]:
        """owner/name in lower case: today's, and the one that was asked for."""
        return {f"{self.owner}/{self.name}".lower(), self.asked.lower()} - {""}


@transaction.atomic
def repository_at(*, study: Study, place: Place) -> Repository:
    """The study's row of it: by its id, else by its names; else new. Rows that prove to be the same become one."""
    rows = list(Repository.objects.filter(study=study).order_by("pk"))
    claimed = [row for row in rows if row.github_id == place.github_id]
    unclaimed = [row for row in rows if row.github_id is None and is_called(row, place.host, place.names)]
    row, *others = [*claimed, *unclaimed] or [_new_repository(study, place)]
    row.host, row.github_id = row.host or place.host, place.github_id
    row.owner, row.name = row.owner or place.owner, row.name or place.name
    row.names = sorted(
        {*row.names, *place.names, *(name for other in others for name in (*other.names, other.label.lower()))}
    )
    row.save()
    for other in others:
        _unite(other, into=row)
    return row


def _new_repository(study: Study, place: Place) -> Repository:
    label = f"{place.owner}/{place.name}"
    taken = Repository.objects.filter(study=study, label=label).exists()  # by another that once had this name
    return Repository(study=study, label=f"{label} ({place.github_id})" if taken else label)


def _unite(other: Repository, *, into: Repository) -> None:
    """What a sheet named by a former name belongs to the same repository. An item that is there twice stays so."""
    named = Item.objects.filter(repository=other, number__isnull=False)
    items = list(named.exclude(identity__startswith="key:"))
    wanted = {item.pk: into.identity_of(item.number or 0) for item in items}
    taken = set(
        Item.objects.filter(study=into.study_id, identity__in=wanted.values()).values_list("identity", flat=True)
    )
    for item in items:
        if wanted[item.pk] not in taken:
            item.identity = wanted[item.pk]
            taken.add(item.identity)
    Item.objects.bulk_update(items, ["identity"], batch_size=500)
    Item.objects.filter(repository=other).update(repository=into)
    record(
        "found two repositories to be one",
        by=None,
        kind="repository",
        object_id=into.pk,
        label=into.label,
        study_id=into.study_id,
        old=other.label,
        new=into.label,
    )
    with suppress(ProtectedError):  # a harvest of its own keeps it
        other.delete()


RETRIED = ("no_answer", "unreadable")  # reasons that the next run may find gone


@transaction.atomic
def renew(harvest: Harvest, *, now: dt.datetime) -> None:
    """What got no answer is tried again; of a harvest that had come to its end, everything is looked through anew."""
    Finding.objects.filter(harvest=harvest, state=Finding.State.UNAVAILABLE, reason__in=RETRIED).update(
        state=Finding.State.FOUND, reason="", tries=0
    )
    wanted = from_document(harvest.query)
    if harvest.finished_at is not None:
        windows = Window.objects.filter(harvest=harvest)
        windows.filter(state=Window.State.DONE).update(state=Window.State.LOOKING, cursor="")
        if wanted.last is None and not wanted.listed:
            _widen(harvest, now.replace(microsecond=0))
    Harvest.objects.filter(pk=harvest.pk).update(finished_at=None)


def _widen(harvest: Harvest, now: dt.datetime) -> None:
    """A harvest without an end reaches until now."""
    ends = Window.objects.filter(harvest=harvest).values("repository_id").annotate(last=Max("ends"))
    Window.objects.bulk_create(
        Window(
            harvest=harvest,
            repository_id=row["repository_id"],
            starts=row["last"] + dt.timedelta(seconds=1),
            ends=now,
        )
        for row in ends
        if row["last"] < now
    )


@transaction.atomic
def pause(*, harvest: Harvest, by: User) -> None:
    """Whoever carries it out stops before the next thing is stored."""
    turn(harvest, to=Harvest.State.PAUSED, out_of=("waiting", "running"))
    tell("paused a harvest", harvest, by=by)


@transaction.atomic
def resume(*, harvest: Harvest, by: User) -> None:
    """It waits for a worker, and goes on from where it was."""
    turn(harvest, to=Harvest.State.WAITING, out_of=("paused", "failed"))
    tell("resumed a harvest", harvest, by=by)


@transaction.atomic
def cancel(*, harvest: Harvest, by: User) -> None:
    """For good. What was collected stays."""
    turn(harvest, to=Harvest.State.CANCELLED, out_of=("waiting", "running", "paused", "failed"))
    tell("cancelled a harvest", harvest, by=by)


@transaction.atomic
def finish_harvest(*, harvest: Harvest, owner: str) -> None:
    mine = Harvest.objects.filter(pk=harvest.pk, lease_owner=owner, state=Harvest.State.RUNNING)
    done = mine.update(
        state=Harvest.State.DONE,
        lease_owner="",
        lease_until=None,
        wake_at=None,
        finished_at=timezone.now(),
        looked_at=timezone.now(),
    )
    if done:
        tell("finished a harvest", harvest, by=harvest.created_by)
    harvest.refresh_from_db()


@transaction.atomic
def allow_sampling(*, harvest: Harvest, reason: str, by: User | None) -> None:
    """A harvest that is not complete may be drawn from all the same; the reason stands beside it."""
    if not reason.strip():
        raise BadInput("Write why the harvest may be sampled though it is not complete.")
    before = Harvest.objects.select_for_update().get(pk=harvest.pk).override_reason
    harvest.override_reason = reason.strip()[:4000]
    harvest.save(update_fields=["override_reason"])
    record(
        "allowed sampling of an incomplete harvest",
        by=by,
        kind="harvest",
        object_id=harvest.pk,
        label=str(harvest),
        study_id=harvest.study_id,
        old=before or None,
        why=harvest.override_reason,
    )


def turn(harvest: Harvest, *, to: str, out_of: Sequence[str]) -> None:
    """Another state, where it is in one of those: a conditional update decides."""
    changed = Harvest.objects.filter(pk=harvest.pk, state__in=out_of).update(
        state=to, lease_owner="", lease_until=None, wake_at=None, message="", silent=0
    )
    harvest.refresh_from_db()
    if not changed:
        raise Refused(f"Harvest {harvest.number} is {harvest.get_state_display().lower()}; that cannot be done now.")


def tell(verb: str, harvest: Harvest, *, by: User | None, old: object = None, new: object = None) -> None:
    record(
        verb,
        by=by,
        kind="harvest",
        object_id=harvest.pk,
        label=str(harvest),
        study_id=harvest.study_id,
        old=old,
        new=new,
    )
