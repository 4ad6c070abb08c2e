"""Changing a codebook. Every change is checked as a whole, published as a version, noted and recorded.

What changes the meaning of answers that are given already is in living.py: it waits for the end of open rounds.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, ProtectedError, QuerySet

from annotator.accounts.models import User
from annotator.codebook import reading, storing
from annotator.codebook.changes import (
    CategoryChange,
    FacetChange,
    apply_to_category,
    apply_to_facet,
    by_act,
    given_by,
    values_of,
)
from annotator.codebook.document import Document
from annotator.codebook.hotkeys import with_hotkeys
from annotator.codebook.meanwhile import refuse_changed, refuse_changed_facet
from annotator.codebook.models import Category, Change, Codebook, Facet, Version, new_uid
from annotator.codebook.publishing import check as _check
from annotator.codebook.publishing import lock as _locked
from annotator.codebook.publishing import note, publish
from annotator.codebook.publishing import settle as _settle
from annotator.codebook.publishing import short as _short
from annotator.codebook.publishing import tell as _record
from annotator.codebook.queries import as_document, facet_doc, is_in_use
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

ACTIVE, RETIRED = Category.State.ACTIVE, Category.State.RETIRED
VERBS: dict[str, str] = {
    Change.Act.RENAME: "renamed a category",
    Change.Act.CLARIFY: "clarified a category",
    Change.Act.MOVE: "moved a category",
}


# --- the whole


@transaction.atomic
def create_codebook(*, study: Study, document: Document, by: User | None) -> Codebook:
    """Give the study its codebook, with the built-in verdict and keys where none were given."""
    Study.objects.select_for_update().get(pk=study.pk)
    if Codebook.objects.filter(study=study).exists():
        raise Refused("The study has a codebook already. Change that one, or replace it from a file.")
    codebook = Codebook(study=study)
    _entitle(codebook, document)
    storing.store(codebook, with_hotkeys(document.with_builtins()), uids={})
    publish(codebook, by=by, reason="First version")
    _record("created the codebook", codebook, by=by, new={"title": document.title, "digest": codebook.digest})
    return codebook


@transaction.atomic
def replace_codebook(*, codebook: Codebook, document: Document, by: User) -> Codebook:
    """Put a file's codebook in the place of this one. A category that stays keeps its id."""
    codebook = _locked(codebook)
    if is_in_use(codebook):
        raise Refused("The codebook is in use, so it cannot be replaced. Change its categories one by one.")
    old = codebook.digest
    uids = storing.known_uids(codebook, document)
    storing.clear(codebook)
    _entitle(codebook, document)
    storing.store(codebook, with_hotkeys(document.with_builtins()), uids=uids)
    publish(codebook, by=by, reason="Replaced from a file")
    _record("replaced the codebook", codebook, by=by, old={"digest": old}, new={"digest": codebook.digest})
    return codebook


@transaction.atomic
def publish_version(*, codebook: Codebook, by: User | None, reason: str = "") -> Version:
    """Freeze the codebook as it stands. Where nothing changed, the latest version is that already."""
    codebook = _locked(codebook)
    return publish(codebook, by=by, reason=reason)


# --- facets


@transaction.atomic
def add_facet(*, codebook: Codebook, key: str, by: User, change: FacetChange) -> Facet:
    codebook = _locked(codebook)
    if is_in_use(codebook):
        raise Refused("The codebook is in use, so it takes no further facet.")
    if Facet.objects.filter(codebook=codebook, key__iexact=key).exists():
        raise BadInput(f"There is a facet “{key}” already. Choose another id.")
    facet = Facet(codebook=codebook, key=key, position=_next_position(codebook.facets))
    apply_to_facet(facet, change)
    reading.to_document(as_document(codebook).with_facet(facet_doc(facet, [])).as_dict())
    facet.name = facet_doc(facet, []).title
    facet.save()
    storing.mend_not_applicable(facet)
    _settle(codebook, by=by, reason=f"Facet {facet.name or key} added")
    facet.refresh_from_db()
    _record("added a facet", codebook, by=by, label=facet.name, new={"facet": key})
    return facet


@transaction.atomic
def edit_facet(*, facet: Facet, by: User, change: FacetChange, seen: int | None = None) -> Facet:
    codebook = _locked(facet.codebook)
    facet = Facet.objects.get(pk=facet.pk)
    refuse_changed_facet(codebook, facet.key, seen=seen)
    old = values_of(facet, change)
    changed = {name: new for name, new in given_by(change).items() if old[name] != new}
    structural = set(changed) & {"kind", "is_many", "is_optional", "decided"}
    if structural and is_in_use(codebook):
        raise Refused("The codebook is in use: a facet keeps its kind, its number of answers and who decides it.")
    apply_to_facet(facet, change)
    before = as_document(codebook)
    reading.to_document(before.with_facet(facet_doc(facet, list(facet.categories.all()))).as_dict())
    facet.save()
    storing.mend_not_applicable(facet)
    storing.mend_scale(facet)
    _settle(codebook, by=by, reason=f"Facet {facet.name} changed")
    facet.refresh_from_db()
    if changed:
        was = {name: old[name] for name in changed}
        _record("changed a facet", codebook, by=by, label=facet.name, old=was, new=changed)
    return facet


@transaction.atomic
def remove_facet(*, facet: Facet, by: User) -> None:
    """Take a facet away while nothing stands on the codebook."""
    codebook = _locked(facet.codebook)
    if facet.is_verdict:
        raise Refused("The verdict is built in and stays.")
    if is_in_use(codebook):
        raise Refused("The codebook is in use, so a facet cannot be removed.")
    if codebook.facets.filter(retired_at=None).exclude(pk=facet.pk).exclude(key=Facet.VERDICT).count() == 0:
        raise BadInput("A codebook needs at least one facet. Add another before removing this one.")
    storing.clear_facet(facet)
    _settle(codebook, by=by, reason=f"Facet {facet.name} removed")
    _record("removed a facet", codebook, by=by, label=facet.name, old={"facet": facet.key})


# --- categories


@transaction.atomic
def add_category(*, facet: Facet, by: User | None, change: CategoryChange, reason: str = "") -> Category:
    """A new category has a new id, even under a name that was used before."""
    codebook = _locked(facet.codebook)
    category = Category(facet=facet, name="", position=_next_position(facet.categories), added_in=codebook.number + 1)
    apply_to_category(category, change)
    _place_on_scale(facet, [category])
    _check(codebook, facet, [category])
    category.save()
    version = _settle(codebook, by=by, reason=reason or f"{_short(category.name)} added to {facet.name}")
    names = {category.uid: category.name}
    note(version, act=Change.Act.ADD, facet=facet, categories=names, new={"names": names}, by=by, reason=reason)
    category.refresh_from_db()
    new = {"facet": facet.key, "uid": category.uid, "name": category.name}
    _record("added a category", codebook, by=by, label=category.name, new=new, why=reason)
    return category


@transaction.atomic
def add_categories(*, facet: Facet, names: Sequence[str], by: User | None, reason: str = "") -> list[Category]:
    """Several at once, at the end of the facet: what an import met that was not there."""
    codebook = _locked(facet.codebook)
    start = _next_position(facet.categories)
    rows = [
        Category(
            facet=facet,
            name=name,
            position=start + n,
            uid=new_uid(),
            is_code=facet.takes_codes,
            added_in=codebook.number + 1,
        )
        for n, name in enumerate(names)
    ]
    _place_on_scale(facet, rows)
    _check(codebook, facet, rows)
    Category.objects.bulk_create(rows, batch_size=500)
    version = _settle(codebook, by=by, reason=reason or f"{len(rows)} categories added to {facet.name}")
    added = {row.uid: row.name for row in rows}
    note(version, act=Change.Act.ADD, facet=facet, categories=added, new={"names": added}, by=by, reason=reason)
    new = {"facet": facet.key, "names": list(names)}
    _record("added categories", codebook, by=by, label=facet.name, new=new, why=reason)
    return rows


@transaction.atomic
def edit_category(
    *,
    category: Category,
    by: User | None,
    change: CategoryChange,
    reason: str = "",
    seen: int | None = None,
    undoes: Change | None = None,
) -> Category:
    """Rename, clarify or move a category, at once. Answers hold its id, so its name is free to change.

    `seen` is the version that was before the person's eyes: what changed of the category since is told, not overwritten.
    """
    codebook = _locked(category.facet.codebook)
    category = Category.objects.select_related("facet", "parent").get(pk=category.pk)
    refuse_changed(codebook, [category.uid], seen=seen)
    _refuse_inactive(category)
    old, label = values_of(category, change), category.name
    apply_to_category(category, change)
    new = values_of(category, change)
    changed = [name for name, value in old.items() if value != new[name]]
    if not changed:
        return category
    _check(codebook, category.facet, [category])
    category.save()
    version = _settle(codebook, by=by, reason=reason or f"{_short(category.name)} changed in {category.facet.name}")
    for act, fields in by_act(changed).items():
        was, now = {name: old[name] for name in fields}, {name: new[name] for name in fields}
        note(
            version,
            act=act,
            facet=category.facet,
            categories=[category.uid],
            old={"fields": was},
            new={"fields": now, "names": {category.uid: label}},
            by=by,
            reason=reason,
            undoes=undoes,
        )
        verb = "undid a change" if undoes else VERBS[act]
        _record(verb, codebook, by=by, label=category.name, old=was, new=now | {"uid": category.uid}, why=reason)
    return category


@transaction.atomic
def remove_category(*, category: Category, by: User, reason: str = "", seen: int | None = None) -> Category | None:
    """Delete a category while nothing stands on the codebook; afterwards retire it, whether or not anybody chose it."""
    kept = retire_categories(rows=[category], by=by, reason=reason, seen=seen)
    return kept[0] if kept else None


@transaction.atomic
def retire_categories(
    *,
    rows: Sequence[Category],
    by: User,
    reason: str = "",
    seen: int | None = None,
    undoes: Change | None = None,
) -> list[Category]:
    """Those that are still there afterwards: all, or none while nothing stood on the codebook."""
    codebook = _locked(rows[0].facet.codebook)
    rows = list(Category.objects.select_related("facet").filter(pk__in=[row.pk for row in rows]))
    facet, names = rows[0].facet, {row.uid: row.name for row in rows}
    refuse_changed(codebook, names, seen=seen)
    for row in rows:
        _refuse_inactive(row)
        _refuse_needed(row, besides=rows)
    mine = Category.objects.filter(pk__in=[row.pk for row in rows])
    is_deleted = not is_in_use(codebook) and _can_go(mine)
    if not is_deleted:
        mine.update(state=RETIRED, hotkey="")
    done, label = "deleted" if is_deleted else "retired", _count(rows)
    version = _settle(codebook, by=by, reason=reason or f"{label} {done} from {facet.name}")
    new = {"names": names, **({"deleted": True} if is_deleted else {})}
    note(version, act=Change.Act.RETIRE, facet=facet, categories=names, new=new, by=by, reason=reason, undoes=undoes)
    old = {"uid": rows[0].uid, "name": rows[0].name} if len(rows) == 1 else {"names": list(names.values())}
    verb = f"{done} a category" if len(rows) == 1 else f"{done} categories"
    _record(verb, codebook, by=by, label=label, old=old, why=reason)
    return [] if is_deleted else list(mine.select_related("facet"))


@transaction.atomic
def withdraw_categories(*, codebook: Codebook, category_ids: Sequence[int], by: User | None, reason: str) -> None:
    """Take back what an import added: deleted where nothing stands on the codebook any more, else retired."""
    codebook = _locked(codebook)
    rows = Category.objects.filter(facet__codebook=codebook, pk__in=category_ids, state=ACTIVE)
    by_facet: dict[Facet, dict[str, str]] = {}
    for row in rows.select_related("facet").order_by("pk"):
        by_facet.setdefault(row.facet, {})[row.uid] = row.name
    if not by_facet:
        return
    gone = {"deleted": True} if not is_in_use(codebook) and _can_go(rows) else {}
    if not gone:
        rows.update(state=RETIRED, hotkey="")
    version = _settle(codebook, by=by, reason=reason)
    for facet, names in by_facet.items():
        new = {"names": names, **gone}
        note(version, act=Change.Act.RETIRE, facet=facet, categories=names, new=new, by=by, reason=reason)
    said = [name for names in by_facet.values() for name in names.values()]
    _record("withdrew categories", codebook, by=by, old={"names": said}, why=reason)


def restore_category(*, category: Category, by: User, reason: str = "") -> Category:
    """Take a retired category back into use, under its old id."""
    return restore_categories(rows=[category], by=by, reason=reason)[0]


@transaction.atomic
def restore_categories(
    *, rows: Sequence[Category], by: User, reason: str = "", undoes: Change | None = None
) -> list[Category]:
    codebook = _locked(rows[0].facet.codebook)
    wanted = Category.objects.filter(pk__in=[row.pk for row in rows])
    rows = list(wanted.select_related("facet", "parent__merged_into"))
    facet, names = rows[0].facet, {row.uid: row.name for row in rows}
    for row in rows:
        if row.state != RETIRED:
            raise Refused(f"“{_short(row.name)}” is not retired.")
        refuse_taken(row)
        row.state = ACTIVE
    Category.objects.bulk_update(rows, ["state"], batch_size=500)
    for row in rows:
        row.parent = parent_in_use(row)
    Category.objects.bulk_update(rows, ["parent"], batch_size=500)
    label = _count(rows)
    version = _settle(codebook, by=by, reason=reason or f"{label} taken back into {facet.name}")
    new = {"names": names}
    note(version, act=Change.Act.RESTORE, facet=facet, categories=names, new=new, by=by, reason=reason, undoes=undoes)
    verb = "restored a category" if len(rows) == 1 else "restored categories"
    _record(verb, codebook, by=by, label=label, new={"uid": rows[0].uid}, why=reason)
    return list(wanted.select_related("facet"))


# --- what they have in common


def parent_in_use(category: Category) -> Category | None:
    """Where it comes back to: below what took its parent's place, or to the top."""
    if category.parent_id is None:
        return None
    parent = Category.objects.filter(pk=category.parent_id).select_related("merged_into").first()
    if parent is not None and parent.state == Category.State.MERGED:
        parent = parent.merged_into
    return parent if parent is not None and parent.state == ACTIVE else None


def _can_go(rows: "QuerySet[Category]") -> bool:
    """Delete them, unless something in the codebook points at one."""
    try:
        with transaction.atomic():
            Category.objects.filter(parent__in=rows).update(parent=None)
            rows.delete()
    except ProtectedError:
        return False
    return True


def refuse_taken(category: Category) -> None:
    """Its name may have been given to another one meanwhile."""
    if category.facet.categories.filter(state=ACTIVE, name=category.name).exclude(pk=category.pk).exists():
        raise BadInput(f"There is another category “{_short(category.name)}” by now. Rename that one first.")


def _entitle(codebook: Codebook, document: Document) -> None:
    codebook.title, codebook.description, codebook.source = document.title, document.description, document.source
    codebook.save()


def _refuse_inactive(category: Category) -> None:
    if category.state != ACTIVE:
        raise Refused(f"“{_short(category.name)}” is retired. Restore it before changing it.")


def _refuse_needed(category: Category, *, besides: Sequence[Category]) -> None:
    if category.facet.is_verdict and category.name in {Category.BUG, Category.NOT_A_BUG}:
        raise Refused(f"“{category.name}” is built in and stays.")
    if category.children.filter(state=ACTIVE).exclude(pk__in=[row.pk for row in besides]).exists():
        raise BadInput(f"“{_short(category.name)}” has narrower categories. Move or remove those first.")


def _next_position(rows: Any) -> int:
    last = rows.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def _place_on_scale(facet: Facet, rows: Sequence[Category]) -> None:
    """On an ordinal facet, what has no place goes to the upper end."""
    if facet.kind != Facet.Kind.ORDINAL:
        return
    top = facet.categories.filter(state=ACTIVE).aggregate(top=Max("rank"))["top"] or 0
    for n, row in enumerate((row for row in rows if row.rank is None), 1):
        row.rank = top + n


def _count(rows: Sequence[Category]) -> str:
    return _short(rows[0].name) if len(rows) == 1 else f"{len(rows)} categories"
