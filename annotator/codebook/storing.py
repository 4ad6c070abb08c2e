"""A document's rows: written in bulk, level by level."""

from collections.abc import Mapping

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotator.codebook.document import ApartDoc, CategoryDoc, Document, FacetDoc, not_applicable
from annotator.codebook.models import Category, Codebook, Facet, Memo, PathRule, TellApart, new_uid

Uids = dict[tuple[str, str], str]  # (facet's key, category's name): the id it had before


def store(codebook: Codebook, document: Document, *, uids: Uids) -> None:
    """Make the rows of a document that was checked, in a codebook that has none."""
    now = timezone.now()
    facets = [
        Facet(
            codebook=codebook,
            key=facet.id,
            name=facet.title,
            definition=facet.definition,
            kind=facet.kind,
            is_many=facet.answers == "many",
            is_optional=facet.optional,
            takes_codes=facet.takes_codes,
            decided=facet.decided,
            hotkey=facet.hotkey,
            position=place,
            retired_at=now if facet.retired else None,
        )
        for place, facet in enumerate(document.facets)
    ]
    for row, facet in zip(Facet.objects.bulk_create(facets), document.facets, strict=True):
        _store_categories(row, facet, uids)


def _store_categories(row: Facet, facet: FacetDoc, uids: Uids) -> None:
    places = {id(category): place for place, category in enumerate(facet.categories)}
    made: dict[str, Category] = {}
    waiting = list(facet.categories)
    while waiting:
        level = [c for c in waiting if not c.parent or c.parent in made]
        rows = [_category(row, c, places[id(c)], made.get(c.parent), uids) for c in level]
        Category.objects.bulk_create(rows, batch_size=500)
        made |= {r.name: r for r in sorted(rows, key=lambda r: r.state == Category.State.ACTIVE)}
        done = {id(c) for c in level}
        waiting = [c for c in waiting if id(c) not in done]
    mend_scale(row)
    TellApart.objects.bulk_create(_apart(note, made) for note in facet.tell_apart)


def _apart(note: ApartDoc, made: Mapping[str, Category]) -> TellApart:
    first, second = sorted((made[note.first], made[note.second]), key=lambda category: category.pk)
    return TellApart(first=first, second=second, text=note.text)


def _category(facet: Facet, doc: CategoryDoc, place: int, parent: Category | None, uids: Uids) -> Category:
    return Category(
        facet=facet,
        uid=uids.get((facet.key, doc.name), "") or new_uid(),
        name=doc.name,
        parent=parent,
        rank=doc.order,
        position=place,
        definition=doc.definition,
        include=doc.include,
        exclude=doc.exclude,
        examples=list(doc.examples),
        aka=list(doc.aka),
        hotkey="" if doc.retired else doc.hotkey,
        is_unverified=doc.unverified,
        is_not_applicable=doc.not_applicable,
        is_code=doc.code,
        state=Category.State.RETIRED if doc.retired else Category.State.ACTIVE,
    )


def mend_scale(facet: Facet) -> None:
    """An ordinal facet without declared places takes the order in which its categories are written."""
    scale = facet.categories.filter(state=Category.State.ACTIVE, is_not_applicable=False)
    if facet.kind != Facet.Kind.ORDINAL or scale.exclude(rank=None).exists():
        return
    for place, category in enumerate(scale, 1):
        category.rank = place
        category.save(update_fields=["rank"])


def known_uids(codebook: Codebook, document: Document) -> Uids:
    """Which ids stay when a document takes this codebook's place: by id where it gives one, else by name."""
    rows = Category.objects.filter(facet__codebook=codebook).select_related("facet")
    by_name = {(row.facet.key, row.name): row.uid for row in rows}
    mine = {row.uid for row in rows}
    found: Uids = {}
    taken: set[str] = set()
    for facet in document.with_builtins().facets:
        for category in facet.active:
            key = (facet.id, category.name)
            uid = category.id if category.id in mine else by_name.get(key, "")
            if uid and uid not in taken:
                found[key] = uid
                taken.add(uid)
    return found


def clear(codebook: Codebook) -> None:
    PathRule.objects.filter(facet__codebook=codebook).delete()
    _delete(Category.objects.filter(facet__codebook=codebook))
    Facet.objects.filter(codebook=codebook).delete()


def clear_facet(facet: Facet) -> None:
    PathRule.objects.filter(facet=facet).delete()
    _delete(Category.objects.filter(facet=facet))
    facet.delete()


def _delete(categories: "QuerySet[Category]") -> None:
    """Untie them first: a parent is protected by its narrower ones."""
    categories.update(parent=None, merged_into=None, split_from=None, hotkey="", state=Category.State.RETIRED)
    untie(categories)
    categories.delete()


def untie(categories: "QuerySet[Category]") -> None:
    """What was written about them goes along while nothing stands on the codebook; a memo stays with the codebook."""
    TellApart.objects.filter(Q(first__in=categories) | Q(second__in=categories)).delete()
    PathRule.objects.filter(category__in=categories).delete()
    Memo.objects.filter(category__in=categories).update(category=None)


def mend_not_applicable(facet: Facet) -> None:
    """An optional facet has exactly one answer "not applicable", any other has none."""
    mine = facet.categories.filter(is_not_applicable=True)
    if not facet.is_optional:
        mine.delete()
    elif not mine.exists():
        place = facet.categories.count()
        _category(facet, not_applicable(), place, None, {}).save()


def write_hotkeys(old: Document, new: Document, codebook: Codebook) -> None:
    """Store the keys in which the new document differs; both have the same parts."""
    for before, after in zip(old.facets, new.facets, strict=True):
        if before.hotkey != after.hotkey:
            Facet.objects.filter(codebook=codebook, key=after.id).update(hotkey=after.hotkey)
        for was, now in zip(before.categories, after.categories, strict=True):
            if was.hotkey != now.hotkey:
                Category.objects.filter(uid=now.id).update(hotkey=now.hotkey)
