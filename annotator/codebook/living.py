"""Changes that give another meaning to answers that are there: merge, split, redefine, and what takes them back.

They wait for the end of open rounds (`waits`): then they are written down, tried, and carried out later.
"""

import copy
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.codebook import actions, coding, publishing, tell_apart, wording
from annotator.codebook.changes import CategoryChange, given_by, values_of
from annotator.codebook.effects import carry_out
from annotator.codebook.meanwhile import refuse_changed
from annotator.codebook.models import Category, Change, Codebook
from annotator.codebook.publishing import short
from annotator.web.errors import BadInput, Refused

Act = Change.Act
WAITING = (Act.MERGE, Act.SPLIT, Act.REDEFINE)  # these change what answers mean
LONGEST = 2000
MOST_PARTS = 50
MOST_SOURCES = 2000


class _Fits(Exception):
    """It could be carried out now; take it back."""


@transaction.atomic
def merge_categories(
    *,
    sources: Sequence[Category],
    into: Category,
    reason: str,
    by: User | None,
    waits: bool = False,
    seen: int | None = None,
) -> Change:
    """One category takes the place of others. Their answers stay as they are and count as it, by rule."""
    if not sources or into in sources:
        raise BadInput("Choose another category that takes its place.")
    if len(sources) > MOST_SOURCES:
        raise BadInput(f"At most {MOST_SOURCES:,} categories are merged in one step.")
    if {row.facet_id for row in sources} != {into.facet_id}:
        raise BadInput("Only categories of one facet can be merged.")
    rows = [*dict.fromkeys(sources), into]
    return _write_down(rows, {"into": into.uid}, act=Act.MERGE, reason=reason, by=by, waits=waits, seen=seen)


@transaction.atomic
def split_category(
    *,
    category: Category,
    parts: Sequence[CategoryChange],
    reason: str,
    by: User | None,
    waits: bool = False,
    seen: int | None = None,
) -> Change:
    """Others take the place of one category. Which of them an answer meant is not guessed: its bugs are labelled again."""
    if len(parts) > MOST_PARTS:
        raise BadInput(f"At most {MOST_PARTS} categories can come of one.")
    new = {"of": category.uid, "parts": [given_by(part) for part in parts]}
    return _write_down([category], new, act=Act.SPLIT, reason=reason, by=by, waits=waits, seen=seen)


@transaction.atomic
def redefine_category(
    *,
    category: Category,
    change: CategoryChange,
    reason: str,
    by: User | None,
    waits: bool = False,
    seen: int | None = None,
) -> Change:
    """What belongs in it changes, under the same id. What was labelled with it is labelled again."""
    new = {"fields": given_by(change)}
    return _write_down([category], new, act=Act.REDEFINE, reason=reason, by=by, waits=waits, seen=seen)


@transaction.atomic
def apply_change(*, change: Change, by: User | None, answered_since: bool = True) -> Change:
    """Carry out a change that waited."""
    publishing.lock(change.codebook)
    change = Change.objects.select_related("codebook", "facet", "undoes", "by").get(pk=change.pk)
    _refuse_over(change)
    return _apply(change, by=by, answered_since=answered_since)


@transaction.atomic
def withdraw_change(*, change: Change, by: User, reason: str = "") -> Change:
    """Drop a change that still waits. It stays in the list as withdrawn."""
    publishing.lock(change.codebook)
    change = Change.objects.select_related("codebook", "facet", "undoes").get(pk=change.pk)
    _refuse_over(change)
    change.withdrawn_at = timezone.now()
    change.save(update_fields=["withdrawn_at"])
    _tell("withdrew a change", change, by=by, why=reason)
    return change


@transaction.atomic
def undo_change(
    *, change: Change, by: User, reason: str = "", waits: bool = False, answered_since: bool = True
) -> Change:
    """Take back what took effect, by a change that does the opposite. Both stay in the list."""
    publishing.lock(change.codebook)
    change = Change.objects.select_related("codebook", "facet").get(pk=change.pk)
    refuse_undoing(change)
    if change.act in WAITING:
        return _undo_later(change, by=by, reason=reason, waits=waits, answered_since=answered_since)
    _undo_now(change, by=by, reason=reason or f"Undoes change {change.number}")
    return Change.objects.select_related("codebook", "facet").get(undoes=change, withdrawn_at=None)


def refuse_undoing(change: Change) -> None:
    if change.applied_at is None:
        raise Refused(f"Change {change.number} has not taken effect, so there is nothing to undo. It can be withdrawn.")
    if change.undoes_id is not None:
        raise Refused(f"Change {change.number} undid another one. Make the change anew instead.")
    if change.new.get("deleted"):
        raise Refused("It was deleted before anything stood on the codebook. Add it again.")
    if change.facet is None:
        raise Refused("Its facet is not in the codebook any more.")
    if Change.objects.filter(undoes=change, withdrawn_at=None).exists():
        raise Refused(f"Change {change.number} was undone already, or that waits.")


# --- taking back


def _undo_later(change: Change, *, by: User, reason: str, waits: bool, answered_since: bool) -> Change:
    act = {Act.MERGE: Act.RESTORE, Act.SPLIT: Act.MERGE}.get(Act(change.act), Act.REDEFINE)
    counter = Change(
        codebook=change.codebook,
        number=publishing.next_number(change.codebook),
        act=act,
        facet=change.facet,
        categories=change.categories,
        new={"names": _names(change.categories)},
        reason=_reason(reason),
        by=by,
        undoes=change,
    )
    return _go(counter, by=by, waits=waits, answered_since=answered_since)


def _undo_now(change: Change, *, by: User, reason: str) -> None:
    if "places" in change.new:
        coding.undo(change=change, by=by)
    elif "tell_apart" in change.new:
        tell_apart.put_back(change=change, by=by)
    elif change.act in (Act.RENAME, Act.CLARIFY, Act.MOVE):
        _undo_edit(change, by=by, reason=reason)
    elif change.act == Act.RETIRE:
        actions.restore_categories(rows=_rows(change), by=by, reason=reason, undoes=change)
    else:
        actions.retire_categories(rows=_rows(change), by=by, reason=reason, undoes=change)


def _undo_edit(change: Change, *, by: User, reason: str) -> None:
    (row,) = _rows(change)
    given = change.new["fields"]
    now = values_of(row, CategoryChange(**dict.fromkeys(given, "")))  # type: ignore[arg-type]  # whatever is not None
    if now != given:
        raise Refused(f"“{short(row.name)}” was changed again since. Undo that first, or edit it.")
    old = {name: value for name, value in change.old["fields"].items() if value is not None}
    actions.edit_category(category=row, by=by, change=CategoryChange(**old), reason=reason, undoes=change)


def _rows(change: Change) -> list[Category]:
    rows = Category.objects.select_related("facet__codebook", "parent__merged_into")
    found = list(rows.filter(facet=change.facet_id, uid__in=change.categories).order_by("position", "pk"))
    if len(found) != len(set(change.categories)):
        raise Refused("One of the categories is not there any more.")
    return found


# --- writing down and carrying out


def _write_down(
    rows: Sequence[Category],
    new: Mapping[str, Any],
    *,
    act: str,
    reason: str,
    by: User | None,
    waits: bool,
    seen: int | None,
) -> Change:
    facet = rows[0].facet
    codebook = publishing.lock(facet.codebook)
    uids = [row.uid for row in rows]
    refuse_changed(codebook, uids, seen=seen)
    change = Change(
        codebook=codebook,
        number=publishing.next_number(codebook),
        act=act,
        facet=facet,
        categories=uids,
        new=dict(new) | {"names": _names(uids)},
        reason=_reason(reason),
        by=by,
    )
    return _go(change, by=by, waits=waits, answered_since=True)


def _go(change: Change, *, by: User | None, waits: bool, answered_since: bool) -> Change:
    if not waits:
        return _apply(change, by=by, answered_since=answered_since)
    try:
        with transaction.atomic():
            _apply(copy.deepcopy(change), by=by, answered_since=answered_since, is_told=False)
            raise _Fits
    except _Fits:
        change.codebook = Codebook.objects.get(pk=change.codebook_id)
        change.save()
    _tell("planned a change", change, by=by, why=change.reason)
    return change


def _apply(change: Change, *, by: User | None, answered_since: bool, is_told: bool = True) -> Change:
    at: dt.datetime = timezone.now()
    codebook = publishing.lock(change.codebook)
    carry_out(change, codebook, at=at, answered_since=answered_since)
    change.codebook = codebook
    change.version = publishing.settle(codebook, by=by, reason=f"{wording.sentence(change)}: {change.reason}")
    change.applied_at = at
    if not is_told:
        return change
    change.save()
    _tell("undid a change" if change.undoes else wording.VERBS[change.act], change, by=by, why=change.reason)
    return change


def _tell(verb: str, change: Change, *, by: User | None, why: str) -> None:
    publishing.tell(
        verb, change.codebook, by=by, label=wording.sentence(change), new={"change": change.number}, why=why
    )


def _reason(reason: str) -> str:
    reason = reason.strip()
    if not reason or "\x00" in reason:
        raise BadInput("Say why: readers of the data set will ask.")
    if len(reason) > LONGEST:
        raise BadInput(f"The reason has more than {LONGEST:,} characters. Shorten it.")
    return reason


def _names(uids: Sequence[str]) -> dict[str, str]:
    return dict(Category.objects.filter(uid__in=uids).values_list("uid", "name"))


def _refuse_over(change: Change) -> None:
    if change.withdrawn_at is not None:
        raise Refused(f"Change {change.number} was withdrawn.")
    if change.applied_at is not None:
        raise Refused(f"Change {change.number} has taken effect already.")


def waiting(codebook: Codebook) -> list[Change]:
    """Changes that wait for the end of the open rounds, in the order in which they are carried out."""
    rows = Change.objects.filter(codebook=codebook, applied_at=None, withdrawn_at=None)
    return list(rows.select_related("facet", "by", "undoes", "codebook").order_by("number"))
