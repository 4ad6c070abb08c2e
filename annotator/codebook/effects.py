"""What a merge, a split and a changed meaning do to the rows of a codebook, and how each is taken back.

Answers stay as they were given. A merged category leads to the one that took its place, always in one step. A label
given to a category in the span from `relabel_from` to `relabel_until` says no more what the category means.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from annotator.codebook import publishing
from annotator.codebook.actions import parent_in_use, refuse_taken
from annotator.codebook.changes import MEANING, CategoryChange, apply_to_category, values_of
from annotator.codebook.models import Category, Change, Codebook, Facet, new_uid
from annotator.codebook.publishing import short
from annotator.web.errors import BadInput, Refused

State = Category.State
FEWEST_PARTS = 2


def carry_out(change: Change, codebook: Codebook, *, at: dt.datetime, answered_since: bool) -> None:
    """Alter the rows and fill in what was before. `answered_since`: whether labels were given since what is taken back."""
    if change.undoes is None:
        {Change.Act.MERGE: merge, Change.Act.SPLIT: split, Change.Act.REDEFINE: redefine}[Change.Act(change.act)](
            change, codebook, at
        )
    elif change.undoes.act == Change.Act.MERGE:
        part_again(change, at, answered_since=answered_since)
    elif change.undoes.act == Change.Act.SPLIT:
        join_again(change)
    else:
        mean_again(change, codebook, at, answered_since=answered_since)


# --- merging


def merge(change: Change, codebook: Codebook, at: dt.datetime) -> None:
    into, sources = _apart(change)
    for row in (into, *sources):
        _refuse_fixed(row)
    if above := set(_above(into)) & {row.pk for row in sources}:
        parent = next(row for row in sources if row.pk in above)
        raise BadInput(f"“{short(into.name)}” stands below “{short(parent.name)}”. Move it to the top first.")
    below = list(Category.objects.filter(parent__in=sources, state=State.ACTIVE).select_related("parent"))
    below = [row for row in below if row not in sources]
    followed = Category.objects.filter(merged_into__in=sources).select_related("merged_into")
    change.old = {
        "keys": {row.uid: row.hotkey for row in sources},
        "below": {row.uid: [row.parent.uid if row.parent else "", row.hotkey] for row in below},
        "followed": {row.uid: row.merged_into.uid for row in followed if row.merged_into},
    }
    followed.update(merged_into=into)
    for row in below:
        row.parent, row.hotkey = into, ""
    for row in sources:
        row.state, row.merged_into, row.hotkey = State.MERGED, into, ""
    Category.objects.bulk_update([*below, *sources], ["parent", "state", "merged_into", "hotkey"], batch_size=500)


def part_again(change: Change, at: dt.datetime, *, answered_since: bool) -> None:
    """Take a merge back. What was answered with the joined category meanwhile may have meant any of them."""
    merged = _undone(change)
    into, sources = _apart(merged)
    gone = [row for row in sources if row.state != State.MERGED]
    if gone:
        raise Refused(f"“{short(gone[0].name)}” was changed again since. Undo that first.")
    for row in sources:
        refuse_taken(row)
        row.state, row.merged_into, row.hotkey = State.ACTIVE, None, ""
    Category.objects.bulk_update(sources, ["state", "merged_into", "hotkey"], batch_size=500)
    for row in sources:
        row.parent = parent_in_use(row)
    Category.objects.bulk_update(sources, ["parent"], batch_size=500)
    by_uid = {row.uid: row for row in sources}
    _put_back(into, merged.old["below"], by_uid)
    for row in Category.objects.filter(uid__in=merged.old["followed"], state=State.MERGED, merged_into=into):
        row.merged_into = by_uid[merged.old["followed"][row.uid]]
        row.save(update_fields=["merged_into"])
    change.old = {"span": _span(into)}
    if answered_since and merged.applied_at:
        _widen(into, merged.applied_at, at)


def _put_back(into: Category, below: dict[str, list[str]], sources: dict[str, Category]) -> None:
    """The narrower categories that had come along, unless they were moved on."""
    rows = list(Category.objects.filter(uid__in=below, parent=into))
    for row in rows:
        row.parent, row.hotkey = sources.get(below[row.uid][0]), ""
    Category.objects.bulk_update(rows, ["parent", "hotkey"], batch_size=500)


# --- splitting


def split(change: Change, codebook: Codebook, at: dt.datetime) -> None:
    row = _one(change, change.new["of"])
    _refuse_fixed(row)
    if row.children.filter(state=State.ACTIVE).exists():
        raise BadInput(f"“{short(row.name)}” has narrower categories. Move or merge those first.")
    wanted = change.new["parts"]
    if len(wanted) < FEWEST_PARTS:
        raise BadInput("A split makes two categories or more. Name at least two.")
    parts = [_part(row, fields, codebook) for fields in wanted]
    _lay_on_scale(row, parts)
    change.old = {"span": _span(row), "key": row.hotkey}
    row.state, row.hotkey = State.SPLIT, ""
    publishing.check(codebook, row.facet, [row, *parts])
    row.save(update_fields=["state", "hotkey"])
    _widen(row, None, at)
    Category.objects.bulk_create(parts)
    change.new["parts"] = [fields | {"uid": part.uid} for fields, part in zip(wanted, parts, strict=True)]
    change.categories = [row.uid, *(part.uid for part in parts)]


def _part(row: Category, fields: dict[str, Any], codebook: Codebook) -> Category:
    part = Category(
        facet=row.facet,
        uid=new_uid(),
        parent=row.parent,
        position=row.position,
        split_from=row,
        added_in=codebook.number + 1,
    )
    apply_to_category(part, CategoryChange(**{name: value for name, value in fields.items() if name != "uid"}))
    return part


def _lay_on_scale(row: Category, parts: Sequence[Category]) -> None:
    """The parts of a place on a scale lie between it and the next one, in their order."""
    if row.facet.kind != Facet.Kind.ORDINAL or row.rank is None:
        return
    above = row.facet.categories.filter(state=State.ACTIVE, rank__gt=row.rank).order_by("rank").first()
    room = above.rank - row.rank if above and above.rank is not None else 1.0
    for place, part in enumerate(parts):
        part.rank = row.rank + room * place / len(parts)


def join_again(change: Change) -> None:
    """Take a split back: the category is used again, and what was answered with a part of it counts as it."""
    undone = _undone(change)
    row = _one(undone, undone.new["of"])
    parts = [each for each in _rows(undone) if each.pk != row.pk]
    moved = [part for part in parts if part.state != State.ACTIVE or part.children.filter(state=State.ACTIVE).exists()]
    if row.state != State.SPLIT or moved:
        name = short(moved[0].name if moved else row.name)
        raise Refused(f"“{name}” was changed again since. Undo that first.")
    for part in parts:
        part.state, part.merged_into, part.hotkey = State.MERGED, row, ""
    Category.objects.bulk_update(parts, ["state", "merged_into", "hotkey"])
    Category.objects.filter(merged_into__in=parts).update(merged_into=row)
    refuse_taken(row)
    row.state, row.parent = State.ACTIVE, parent_in_use(row)
    row.save(update_fields=["state", "parent"])
    change.new |= {"into": row.uid}
    _set_span(row, undone.old["span"])


# --- changing the meaning


def redefine(change: Change, codebook: Codebook, at: dt.datetime) -> None:
    row = _one(change, change.categories[0])
    _refuse_fixed(row)
    old = _set_fields(row, change.new["fields"], codebook)
    if all(old[name] == change.new["fields"].get(name) for name in MEANING if name in old):
        raise BadInput("Nothing is said otherwise about what belongs here. Say it in the definition or the rules.")
    change.old = {"fields": old, "span": _span(row), "redefined_in": row.redefined_in}
    row.redefined_in = codebook.number + 1
    row.save()
    _widen(row, None, at)


def mean_again(change: Change, codebook: Codebook, at: dt.datetime, *, answered_since: bool) -> None:
    """Take a changed meaning back. What was labelled before is right again, what was labelled since is not."""
    undone = _undone(change)
    row = _one(undone, undone.categories[0])
    given = undone.new["fields"]
    if row.state != State.ACTIVE or _fields(row, given) != given:
        raise Refused(f"“{short(row.name)}” was changed again since. Undo that first.")
    change.new |= {"fields": undone.old["fields"]}
    change.old = {"fields": _set_fields(row, undone.old["fields"], codebook), "span": _span(row)}
    change.old["redefined_in"] = row.redefined_in
    row.redefined_in = codebook.number + 1 if answered_since else undone.old["redefined_in"]
    row.save()
    _set_span(row, undone.old["span"])
    if answered_since and undone.applied_at:
        _widen(row, undone.applied_at, at)


def _set_fields(row: Category, fields: dict[str, Any], codebook: Codebook) -> dict[str, Any]:
    """What they were before."""
    old = _fields(row, fields)
    apply_to_category(row, CategoryChange(**fields))
    publishing.check(codebook, row.facet, [row])
    return old


def _fields(row: Category, names: Iterable[str]) -> dict[str, Any]:
    return values_of(row, CategoryChange(**dict.fromkeys(names, "")))  # type: ignore[arg-type]  # whatever is not None


# --- the span in which labels were given to another meaning


def _span(row: Category) -> list[str | None]:
    return [each.isoformat() if each else None for each in (row.relabel_from, row.relabel_until)]


def _set_span(row: Category, span: Sequence[str | None]) -> None:
    row.relabel_from, row.relabel_until = (dt.datetime.fromisoformat(each) if each else None for each in span)
    row.save(update_fields=["relabel_from", "relabel_until"])


def _widen(row: Category, since: dt.datetime | None, until: dt.datetime) -> None:
    """One span that holds this one and any that is there."""
    if row.relabel_until is not None:
        since = None if row.relabel_from is None or since is None else min(since, row.relabel_from)
        until = max(until, row.relabel_until)
    row.relabel_from, row.relabel_until = since, until
    row.save(update_fields=["relabel_from", "relabel_until"])


# --- in common


def _rows(change: Change) -> list[Category]:
    rows = Category.objects.filter(facet=change.facet_id, uid__in=change.categories)
    found = {row.uid: row for row in rows.select_related("facet", "parent", "parent__merged_into")}
    if len(found) != len(set(change.categories)):
        raise BadInput("One of the categories is not there any more. Load the page again.")
    return [found[uid] for uid in change.categories]


def _one(change: Change, uid: str) -> Category:
    return next(row for row in _rows(change) if row.uid == uid)


def _apart(change: Change) -> tuple[Category, list[Category]]:
    """What takes the place, and what is merged into it."""
    rows = _rows(change)
    into = next(row for row in rows if row.uid == change.new["into"])
    return into, [row for row in rows if row.pk != into.pk]


def _above(row: Category) -> Iterable[int]:
    parents = dict(row.facet.categories.values_list("pk", "parent_id"))
    parent = row.parent_id
    while parent is not None:
        yield parent
        parent = parents[parent]


def _undone(change: Change) -> Change:
    assert change.undoes is not None  # noqa: S101  # for the types
    return change.undoes


def _refuse_fixed(row: Category) -> None:
    if row.state not in (State.ACTIVE, State.PROPOSED):  # a code of a closed round may come to nothing but another
        raise Refused(f"“{short(row.name)}” is not in use any more.")
    if row.is_not_applicable:
        raise BadInput("“Not applicable” is an answer of its own and stays as it is.")
    if row.facet.is_verdict and row.name in {Category.BUG, Category.NOT_A_BUG}:
        raise Refused(f"“{row.name}” is built in and stays.")
