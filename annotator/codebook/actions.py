"""Changing a codebook. Every change is checked as a whole, published as a version and recorded."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotator.accounts.models import User
from annotator.codebook import reading, storing
from annotator.codebook.changes import (
    CategoryChange,
    FacetChange,
    apply_to_category,
    apply_to_facet,
    given_by,
    values_of,
)
from annotator.codebook.document import Document
from annotator.codebook.hotkeys import with_hotkeys
from annotator.codebook.models import Category, Codebook, Facet, Version, new_uid
from annotator.codebook.queries import as_document, category_doc, facet_doc, is_in_use
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

ACTIVE, RETIRED = Category.State.ACTIVE, Category.State.RETIRED


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
    _publish(codebook, by=by, reason="First version")
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
    _publish(codebook, by=by, reason="Replaced from a file")
    _record("replaced the codebook", codebook, by=by, old={"digest": old}, new={"digest": codebook.digest})
    return codebook


@transaction.atomic
def publish_version(*, codebook: Codebook, by: User | None, reason: str = "") -> Version:
    """Freeze the codebook as it stands. Where nothing changed, the latest version is that already."""
    codebook = _locked(codebook)
    return _publish(codebook, by=by, reason=reason)


def _publish(codebook: Codebook, *, by: User | None, reason: str) -> Version:
    document = as_document(codebook)
    digest = document.digest()
    latest = Version.objects.filter(codebook=codebook).order_by("-number").first()
    if latest and latest.digest == digest:
        return latest
    version = Version.objects.create(
        codebook=codebook,
        number=codebook.number + 1,
        digest=digest,
        document=document.as_dict(),
        published_by=by,
        reason=reason,
    )
    codebook.number, codebook.digest = version.number, digest
    codebook.save(update_fields=["number", "digest"])
    return version


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
def edit_facet(*, facet: Facet, by: User, change: FacetChange) -> Facet:
    codebook = _locked(facet.codebook)
    facet = Facet.objects.get(pk=facet.pk)
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
def add_category(*, facet: Facet, by: User | None, change: CategoryChange) -> Category:
    """A new category has a new id, even under a name that was used before."""
    codebook = _locked(facet.codebook)
    category = Category(facet=facet, name="", position=_next_position(facet.categories))
    apply_to_category(category, change)
    _place_on_scale(facet, [category])
    _check(codebook, facet, [category])
    category.save()
    _settle(codebook, by=by, reason=f"{_short(category.name)} added to {facet.name}")
    category.refresh_from_db()
    new = {"facet": facet.key, "uid": category.uid, "name": category.name}
    _record("added a category", codebook, by=by, label=category.name, new=new)
    return category


@transaction.atomic
def add_categories(*, facet: Facet, names: Sequence[str], by: User | None, reason: str = "") -> list[Category]:
    """Several at once, at the end of the facet: what an import met that was not there."""
    codebook = _locked(facet.codebook)
    start = _next_position(facet.categories)
    rows = [
        Category(facet=facet, name=name, position=start + n, uid=new_uid(), is_code=facet.takes_codes)
        for n, name in enumerate(names)
    ]
    _place_on_scale(facet, rows)
    _check(codebook, facet, rows)
    Category.objects.bulk_create(rows, batch_size=500)
    _settle(codebook, by=by, reason=reason or f"{len(rows)} categories added to {facet.name}")
    _record(
        "added categories",
        codebook,
        by=by,
        label=facet.name,
        new={"facet": facet.key, "names": list(names)},
        why=reason,
    )
    return rows


@transaction.atomic
def edit_category(*, category: Category, by: User, change: CategoryChange, reason: str = "") -> Category:
    """Rename, redefine or move a category. Answers hold its id, so its name is free to change."""
    codebook = _locked(category.facet.codebook)
    category = Category.objects.select_related("facet").get(pk=category.pk)
    _refuse_inactive(category)
    old = values_of(category, change)
    apply_to_category(category, change)
    new = values_of(category, change)
    if old == new:
        return category
    _check(codebook, category.facet, [category])
    category.save()
    _settle(codebook, by=by, reason=reason or f"{_short(category.name)} changed in {category.facet.name}")
    was = {name: value for name, value in old.items() if value != new[name]}
    now = {name: new[name] for name in was}
    verb = "renamed a category" if set(was) == {"name"} else "changed a category"
    _record(verb, codebook, by=by, label=category.name, old=was, new={**now, "uid": category.uid}, why=reason)
    return category


@transaction.atomic
def remove_category(*, category: Category, by: User, reason: str = "") -> Category | None:
    """Delete a category while nothing stands on the codebook; afterwards retire it, whether or not anybody chose it."""
    codebook = _locked(category.facet.codebook)
    category = Category.objects.select_related("facet").get(pk=category.pk)
    _refuse_inactive(category)
    _refuse_needed(category)
    label = category.name
    if not is_in_use(codebook):
        category.children.update(parent=None)
        category.delete()
        _settle(codebook, by=by, reason=f"{_short(label)} deleted from {category.facet.name}")
        _record(
            "deleted a category", codebook, by=by, label=label, old={"uid": category.uid, "name": label}, why=reason
        )
        return None
    category.state, category.hotkey = RETIRED, ""
    category.save(update_fields=["state", "hotkey"])
    _settle(codebook, by=by, reason=reason or f"{_short(label)} retired from {category.facet.name}")
    _record("retired a category", codebook, by=by, label=label, old={"uid": category.uid, "name": label}, why=reason)
    return category


@transaction.atomic
def withdraw_categories(*, codebook: Codebook, category_ids: Sequence[int], by: User | None, reason: str) -> None:
    """Take back what an import added: deleted where nothing stands on the codebook any more, else retired."""
    codebook = _locked(codebook)
    rows = Category.objects.filter(facet__codebook=codebook, pk__in=category_ids, state=ACTIVE)
    names = list(rows.order_by("pk").values_list("name", flat=True))
    if not names:
        return
    if is_in_use(codebook):
        rows.update(state=RETIRED, hotkey="")
    else:
        Category.objects.filter(parent__in=rows).update(parent=None)
        rows.delete()
    _settle(codebook, by=by, reason=reason)
    _record("withdrew categories", codebook, by=by, old={"names": names}, why=reason)


@transaction.atomic
def restore_category(*, category: Category, by: User) -> Category:
    """Take a retired category back into use, under its old id."""
    codebook = _locked(category.facet.codebook)
    category = Category.objects.select_related("facet").get(pk=category.pk)
    if category.state != RETIRED:
        raise Refused(f"“{_short(category.name)}” is not retired.")
    if category.facet.categories.filter(state=ACTIVE, name=category.name).exists():
        raise BadInput(f"There is another category “{_short(category.name)}” by now. Rename that one first.")
    category.state = ACTIVE
    category.save(update_fields=["state"])
    _settle(codebook, by=by, reason=f"{_short(category.name)} taken back into {category.facet.name}")
    _record("restored a category", codebook, by=by, label=category.name, new={"uid": category.uid})
    category.refresh_from_db()
    return category


# --- what they have in common


def _locked(codebook: Codebook) -> Codebook:
    return Codebook.objects.select_for_update().get(pk=codebook.pk)


def _settle(codebook: Codebook, *, by: User | None, reason: str) -> None:
    """Check the codebook as a whole as if it came from a file, give free keys to what has none, publish."""
    document = reading.to_document(as_document(codebook).as_dict())
    storing.write_hotkeys(document, with_hotkeys(document), codebook)
    _publish(codebook, by=by, reason=reason)


def _check(codebook: Codebook, facet: Facet, rows: Sequence[Category]) -> None:
    """Refuse rows that would spoil the codebook, before the database does so in fewer words."""
    document = as_document(codebook)
    old = document.facet(facet.key)
    if old is None:
        raise BadInput("That facet is not in the codebook any more. Load the page again.")
    parents = {row.parent_id: row.parent for row in rows if row.parent}
    docs = [category_doc(row, parents) for row in rows]
    reading.to_document(document.with_facet(old.with_categories(*docs)).as_dict())


def _entitle(codebook: Codebook, document: Document) -> None:
    codebook.title, codebook.description, codebook.source = document.title, document.description, document.source
    codebook.save()


def _refuse_inactive(category: Category) -> None:
    if category.state != ACTIVE:
        raise Refused(f"“{_short(category.name)}” is retired. Restore it before changing it.")


def _refuse_needed(category: Category) -> None:
    if category.facet.is_verdict and category.name in {Category.BUG, Category.NOT_A_BUG}:
        raise Refused(f"“{category.name}” is built in and stays.")
    if category.children.filter(state=ACTIVE).exists():
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


def _record(verb: str, codebook: Codebook, *, by: User | None, label: str = "", **more: Any) -> None:
    record(
        verb,
        by=by,
        kind="codebook",
        object_id=codebook.pk,
        label=label or codebook.title,
        study_id=codebook.study_id,
        **more,
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}…"
