"""Notes on how to tell two categories apart: for raters while they label, and part of the codebook's versions."""

from django.db import transaction

from annotator.accounts.models import User
from annotator.codebook import publishing
from annotator.codebook.models import Category, Change, TellApart
from annotator.codebook.publishing import short
from annotator.codebook.texts import checked
from annotator.web.errors import BadInput, Refused

Pair = tuple[Category, Category]


@transaction.atomic
def write_note(*, first: Category, second: Category, text: str, by: User) -> TellApart:
    """One note a pair: a new text takes the place of the one before, which is kept."""
    text = checked(text, "note")
    _refuse_pair(first, second)
    pair = in_order(first, second)
    publishing.lock(first.facet.codebook)
    before = current(*pair)
    if before and before.text == text:
        return before
    _put(pair, text, before=before, by=by)
    return TellApart.objects.select_related("first__facet__codebook", "second").get(
        first=pair[0], second=pair[1], is_current=True
    )


@transaction.atomic
def withdraw_note(*, note: TellApart, by: User) -> None:
    """It is shown no more and stays in the history."""
    note = TellApart.objects.select_related("first__facet__codebook", "second").get(pk=note.pk)
    publishing.lock(note.first.facet.codebook)
    before = current(note.first, note.second)
    if before and before.pk == note.pk:
        _put((note.first, note.second), "", before=before, by=by)


@transaction.atomic
def put_back(*, change: Change, by: User) -> None:
    """Undo a change of a note: the text before it, or none."""
    rows = Category.objects.filter(uid__in=change.categories).select_related("facet__codebook")
    found = {row.uid: row for row in rows}
    pair = in_order(*(found[uid] for uid in change.categories))
    before = current(*pair)
    if (before.text if before else "") != change.new["tell_apart"]:
        raise Refused("The note was changed again since. Undo that first, or write it anew.")
    _refuse_pair(*pair)
    _put(pair, change.old["tell_apart"], before=before, by=by, undoes=change)


def _put(pair: Pair, text: str, *, before: TellApart | None, by: User, undoes: Change | None = None) -> None:
    """In the place of the one before, which is kept; an empty text leaves the pair without a note."""
    first, second = pair
    codebook = first.facet.codebook
    if before:
        TellApart.objects.filter(pk=before.pk).update(is_current=False)
    if text:
        TellApart.objects.create(first=first, second=second, text=text, by=by)
    both = f"{short(first.name)} and {short(second.name)}"
    said = f"How to tell {both} apart" if text else f"No note on {both} any more"
    publishing.note(
        publishing.settle(codebook, by=by, reason=said),
        act=Change.Act.CLARIFY,
        facet=first.facet,
        categories=[first.uid, second.uid],
        old={"tell_apart": before.text if before else ""},
        new={"tell_apart": text},
        by=by,
        reason=said,
        undoes=undoes,
    )
    verb = "wrote how to tell apart" if text else "withdrew how to tell apart"
    publishing.tell(verb, codebook, by=by, label=both, old=before.text if before else None, new=text or None)


def in_order(first: Category, second: Category) -> Pair:
    return (first, second) if first.pk < second.pk else (second, first)


def current(first: Category, second: Category) -> TellApart | None:
    first, second = in_order(first, second)
    return TellApart.objects.filter(first=first, second=second, is_current=True).first()


def _refuse_pair(first: Category, second: Category) -> None:
    if first.pk == second.pk or first.facet_id != second.facet_id:
        raise BadInput("Choose two different categories of one facet.")
    if {first.state, second.state} != {Category.State.ACTIVE}:
        raise BadInput("Both categories have to be in use. Load the page again.")
