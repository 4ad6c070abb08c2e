"""Near-duplicates of a study: asked for, and read in groups. Nothing is ever merged here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from annotator.accounts.models import User
from annotator.collection.models import ChangedFile, Comparison, Item, NearDuplicate
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

USUAL = 0.7  # a fix and its backport; what shares a template alone stays below
LEAST, MOST = 0.3, 1.0
PAGE = 20
SHOWN = 6  # items of a group
PATHS = 4  # of an item
UNDERWAY = (Comparison.State.WAITING, Comparison.State.RUNNING)


def items_of(study: Study) -> "QuerySet[Item]":
    """What can be compared: items of which a title or a description is there."""
    return Item.objects.filter(study=study).filter(~Q(title="") | Q(text__body__gt=""))


@transaction.atomic
def ask(*, study: Study, threshold: float, by: User) -> Comparison:
    """A comparison that waits for a worker."""
    if not LEAST <= threshold <= MOST:
        raise BadInput(f"Give a similarity from {LEAST} to {MOST}: {USUAL} finds a fix and its backport.")
    Study.objects.select_for_update().get(pk=study.pk)  # sent twice at once, it is asked once
    comparisons = Comparison.objects.filter(study=study)
    if comparisons.filter(state__in=UNDERWAY).exists():
        raise Refused("A comparison is under way already: wait until it is done.")
    if items_of(study)[:2].count() < 2:
        raise Refused("There are not two items to compare yet: collect some, or import a sheet with titles.")
    last = comparisons.order_by("-number").values_list("number", flat=True).first() or 0
    made = Comparison.objects.create(study=study, number=last + 1, threshold=threshold, created_by=by)
    record(
        "asked for a comparison",
        by=by,
        kind="comparison",
        object_id=made.pk,
        label=str(made),
        study_id=study.pk,
        new={"threshold": threshold},
    )
    return made


def latest(study: Study) -> Comparison | None:
    return Comparison.objects.filter(study=study).order_by("-number").first()


# --- in groups


@dataclass(frozen=True)
class Member:
    item: Item
    excerpt: str
    paths: tuple[str, ...]
    more_paths: int


@dataclass(frozen=True)
class Group:
    """Items that are alike, directly or through others; the most alike pair says how much and by which words."""

    ids: tuple[int, ...]
    similarity: float
    words: tuple[str, ...]
    members: tuple[Member, ...] = ()

    @property
    def left_out(self) -> int:
        return len(self.ids) - len(self.members)


@dataclass(frozen=True)
class Page:
    groups: tuple[Group, ...]
    count: int  # of all groups
    items: int  # in them
    start: int

    @property
    def after(self) -> int | None:
        end = self.start + len(self.groups)
        return end if end < self.count else None

    @property
    def before(self) -> int | None:
        return max(0, self.start - PAGE) if self.start else None


def groups_of(comparison: Comparison) -> list[Group]:
    """Connected components of the pairs, the most alike first."""
    pairs = NearDuplicate.objects.filter(comparison=comparison).order_by("-similarity", "first_id", "second_id")
    rows = list(pairs.values_list("first_id", "second_id", "similarity", "words"))
    groups: dict[int, Group] = {}
    together = components((first, second) for first, second, _, _ in rows)
    for first, _, similarity, words in rows:
        ids = together[first]
        groups.setdefault(ids[0], Group(ids, similarity, tuple(words)))
    return list(groups.values())


def components(pairs: Iterable[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """The sorted members of each one's group."""
    groups: dict[int, list[int]] = {}
    for first, second in pairs:
        one, other = groups.setdefault(first, [first]), groups.setdefault(second, [second])
        if one is not other:
            small, large = sorted((one, other), key=len)
            large.extend(small)
            groups.update(dict.fromkeys(small, large))
    whole = {id(group): tuple(sorted(group)) for group in groups.values()}
    return {member: whole[id(group)] for member, group in groups.items()}


def page_of(comparison: Comparison, start: int = 0) -> Page:
    groups = groups_of(comparison)
    shown = groups[start : start + PAGE]
    members = members_of([pk for group in shown for pk in group.ids[:SHOWN]])
    return Page(
        groups=tuple(
            Group(group.ids, group.similarity, group.words, tuple(members[pk] for pk in group.ids[:SHOWN]))
            for group in shown
        ),
        count=len(groups),
        items=sum(len(group.ids) for group in groups),
        start=start,
    )


def members_of(ids: Sequence[int]) -> dict[int, Member]:
    items = Item.objects.filter(pk__in=ids).select_related("repository", "text")
    paths: dict[int, list[str]] = {}
    for item, path in ChangedFile.objects.filter(item__in=ids).order_by("position").values_list("item_id", "path"):
        paths.setdefault(item, []).append(path)
    return {item.pk: _member(item, paths.get(item.pk, [])) for item in items}


def _member(item: Item, paths: Sequence[str]) -> Member:
    text = getattr(item, "text", None)
    excerpt = " ".join(text.body[:2_000].split()) if text else ""
    return Member(item, excerpt, tuple(paths[:PATHS]), max(0, len(paths) - PATHS))
