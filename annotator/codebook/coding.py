"""Open coding: codes as they were worded are placed below categories, several in one step, and taken back again."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from annotator.accounts.models import User
from annotator.codebook import actions, publishing
from annotator.codebook.changes import CategoryChange
from annotator.codebook.models import Category, Change, Codebook, Facet
from annotator.web.errors import BadInput, Refused

ACTIVE = Category.State.ACTIVE
Place = dict[str, Any]  # {"parent": uid or "", "code": whether it waits for a category}
Places = Mapping[str, Place]
MOST_AT_ONCE = 2_000


@transaction.atomic
def place(*, facet: Facet, codes: Sequence[str], under: str, by: User, reason: str = "") -> Change:
    """Put codes below a category. Their answers stay as they are; at the top level they count as the category."""
    _locked(facet)
    rows = _named(facet, codes)
    target = _one(facet, under)
    if target.is_not_applicable:
        raise BadInput(f"“{target.name}” is an answer of its own and has nothing below it.")
    if any(row.pk == target.pk for row in rows):
        raise BadInput(f"“{target.name}” cannot stand below itself. Choose another category.")
    wanted = {row.uid: {"parent": target.uid, "code": row.is_code} for row in rows}
    if target.is_code:
        wanted[target.uid] = {"parent": target.parent.uid if target.parent else "", "code": False}
    said = f"{_count(rows)} placed in {_short(target.name)}"
    return _move(facet, wanted, by=by, reason=reason, said=said, verb="placed codes", label=target.name)


@transaction.atomic
def take_out(*, facet: Facet, codes: Sequence[str], by: User, reason: str = "") -> Change:
    """Back among the codes that wait."""
    _locked(facet)
    rows = _named(facet, codes)
    wanted = {row.uid: {"parent": "", "code": True} for row in rows}
    said = f"{_count(rows)} taken out"
    return _move(facet, wanted, by=by, reason=reason, said=said, verb="took codes out", label=rows[0].name)


@transaction.atomic
def make_category(*, facet: Facet, code: str, by: User, reason: str = "") -> Change:
    """The code becomes a category that others can be placed in, under its own name and id."""
    _locked(facet)
    row = _one(facet, code)
    if not row.is_code and row.parent_id is None:
        raise Refused(f"“{_short(row.name)}” is a category already.")
    wanted = {row.uid: {"parent": "", "code": False}}
    said = f"{_short(row.name)} made a category"
    return _move(facet, wanted, by=by, reason=reason, said=said, verb="made a category of a code", label=row.name)


@transaction.atomic
def new_category(
    *, facet: Facet, name: str, by: User, definition: str = "", codes: Sequence[str] = (), reason: str = ""
) -> Category:
    """A category of its own, with what is placed in it at once."""
    made = actions.add_category(
        facet=facet, by=by, change=CategoryChange(name=name.strip(), definition=definition.strip())
    )
    if codes:
        place(facet=facet, codes=codes, under=made.uid, by=by, reason=reason)
    made.refresh_from_db()
    return made


@transaction.atomic
def take_as_codes(*, facet: Facet, by: User) -> Change:
    """Count as codes what stands at the top with neither a definition nor anything below it."""
    _locked(facet)
    bare = facet.categories.filter(state=ACTIVE, parent=None, definition="", is_code=False, is_not_applicable=False)
    found = list(bare.filter(children=None).order_by("position", "pk"))
    if not found:
        raise BadInput("Every category has a definition or narrower ones, so none is a code.")
    wanted = {row.uid: {"parent": "", "code": True} for row in found}
    said = f"{_count(found)} of {facet.name} to be placed"
    return _move(facet, wanted, by=by, reason="", said=said, verb="took categories as codes", label=facet.name)


def last_step(facet: Facet, *, by: User) -> Change | None:
    """What the person did last to codes of the facet and has not taken back."""
    mine = Change.objects.filter(facet=facet, by=by, act=Change.Act.MOVE, undoes=None, undone_by=None)
    return mine.filter(applied_at__isnull=False, new__has_key="places").order_by("-number").first()


@transaction.atomic
def undo(*, change: Change, by: User) -> Change:
    """Put everything that the step moved back to where it was; the step and its undoing both stay in history."""
    facet = change.facet
    if facet is None or change.act != Change.Act.MOVE or "places" not in change.new:
        raise Refused("This change is taken back on the page of the changes.")
    _locked(facet)
    if Change.objects.filter(undoes=change).exists():
        raise Refused("This step was taken back already.")
    rows = _named(facet, change.new["places"])
    if {row.uid: _place_of(row) for row in rows} != change.new["places"]:
        raise Refused("Something of it was moved on since. Move it by hand.")
    return _move(
        facet,
        change.old["places"],
        by=by,
        reason=f"Undoes change {change.number}",
        said=f"{_count(rows)} put back",
        verb="took back a step",
        label=rows[0].name,
        undoes=change,
    )


# --- in common


def _move(
    facet: Facet,
    wanted: Places,
    *,
    by: User,
    reason: str,
    said: str,
    verb: str,
    label: str,
    undoes: Change | None = None,
) -> Change:
    rows = _named(facet, wanted)
    parents = {row.uid: row for row in facet.categories.filter(uid__in={one["parent"] for one in wanted.values()})}
    old = {row.uid: _place_of(row) for row in rows}
    moved = [row for row in rows if old[row.uid] != wanted[row.uid]]
    if not moved:
        raise BadInput("It stands there already.")
    for row in moved:
        to = wanted[row.uid]
        if to["parent"] and (to["parent"] not in parents or parents[to["parent"]].state != ACTIVE):
            raise Refused("The category that it stood in is no longer in use. Restore that one first.")
        row.parent = parents[to["parent"]] if to["parent"] else None
        row.is_code, row.hotkey = to["code"], ""
    codebook = facet.codebook
    publishing.check(codebook, facet, moved)
    Category.objects.bulk_update(moved, ["parent", "is_code", "hotkey"], batch_size=500)
    version = publishing.settle(codebook, by=by, reason=reason or said)
    changed = [row.uid for row in moved]
    change = publishing.note(
        version,
        act=Change.Act.MOVE,
        facet=facet,
        categories=changed,
        old={"places": {uid: at for uid, at in old.items() if uid in changed}},
        new={"places": {uid: dict(at) for uid, at in wanted.items() if uid in changed}},
        by=by,
        reason=reason or said,
        undoes=undoes,
    )
    names = [row.name for row in moved]
    publishing.tell(verb, codebook, by=by, label=label, new={"facet": facet.key, "codes": names}, why=reason)
    return change


def _locked(facet: Facet) -> None:
    facet.codebook = Codebook.objects.select_for_update().get(pk=facet.codebook_id)


def _named(facet: Facet, uids: Iterable[str]) -> list[Category]:
    wanted = list(dict.fromkeys(uids))
    if not wanted:
        raise BadInput("Choose at least one code.")
    if len(wanted) > MOST_AT_ONCE:
        raise BadInput(f"At most {MOST_AT_ONCE:,} codes go in one step.")
    rows = facet.categories.filter(uid__in=wanted, state=ACTIVE).select_related("parent", "facet")
    found = {row.uid: row for row in rows}
    if len(found) != len(wanted):
        raise BadInput("One of the codes is not in use any more. Load the page again.")
    if any(row.is_not_applicable for row in found.values()):
        raise BadInput("“Not applicable” is an answer of its own and stays where it is.")
    return [found[uid] for uid in wanted]


def _one(facet: Facet, uid: str) -> Category:
    found = facet.categories.filter(uid=uid, state=ACTIVE).select_related("parent", "facet").first()
    if found is None:
        raise BadInput("That category is not in use any more. Load the page again.")
    return found


def _place_of(row: Category) -> Place:
    return {"parent": row.parent.uid if row.parent else "", "code": row.is_code}


def _count(rows: Sequence[Category]) -> str:
    return _short(rows[0].name) if len(rows) == 1 else f"{len(rows)} codes"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}…"
