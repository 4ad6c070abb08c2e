"""Changes of the codebook that touch what later stages hold: when they take effect, and what is labelled again.

They wait while a round is open. Whoever closes the last one carries them out, in the same transaction.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotator.accounts.models import User
from annotator.codebook import living, publishing
from annotator.codebook.models import Category, Change, Codebook
from annotator.history.actions import record
from annotator.labeling.models import Answer, Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

Act = Change.Act


def open_rounds(study: Study | int) -> list[Round]:
    """What such a change waits for."""
    return list(Round.objects.open().filter(study=study).order_by("number"))


@transaction.atomic
def make(study: Study, act: Callable[..., Change], **given: Any) -> Change:
    """Merge, split or redefine: at once where no round is open, else written down until the last one closes."""
    hold(study)
    return act(waits=bool(open_rounds(study)), **given)


@transaction.atomic
def undo(*, change: Change, by: User, reason: str = "") -> Change:
    study = change.codebook.study
    hold(study)
    return living.undo_change(
        change=change,
        by=by,
        reason=reason,
        waits=change.act in living.WAITING and bool(open_rounds(study)),
        answered_since=answered_since(change),
    )


@transaction.atomic
def carry_out(*, change: Change, by: User | None) -> Change:
    study = change.codebook.study
    hold(study)
    if still := open_rounds(study):
        raise Refused(f"Change {change.number} waits for the end of {still[0].name}.")
    return living.apply_change(change=change, by=by, answered_since=_since_what_it_undoes(change))


def carry_out_waiting(*, study: Study, by: User) -> list[Change]:
    """All that waited, in order, once no round is open any more. What cannot be done stays, and the history says why."""
    codebook = Codebook.objects.filter(study=study).first()
    if codebook is None or open_rounds(study):
        return []
    done = []
    for change in living.waiting(codebook):
        try:
            with transaction.atomic():
                done.append(carry_out(change=change, by=by))
        except (BadInput, Refused) as problem:
            _tell(change, by=by, why=str(problem))
    return done


def _tell(change: Change, *, by: User, why: str) -> None:
    record(
        "could not carry out a change",
        by=by,
        kind="codebook",
        object_id=change.codebook_id,
        label=f"change {change.number}",
        study_id=change.codebook.study_id,
        why=why,
    )


def hold(study: Study | int) -> None:
    """The codebook's row, before any round's: who changes it and who closes a round take turns."""
    if codebook := Codebook.objects.filter(study=study).first():
        publishing.lock(codebook)


def answered_since(change: Change) -> bool:
    """Whether anything was labelled with its categories since it took effect."""
    if change.version is None:
        return False
    given = Answer.objects.filter(round__study=change.codebook.study_id, category__in=_categories(change))
    return given.filter(version__gte=change.version.number).exists()


def _since_what_it_undoes(change: Change) -> bool:
    return answered_since(change.undoes) if change.undoes else True


def _categories(change: Change) -> Any:
    mine = Q(uid__in=change.categories) | Q(merged_into__uid__in=change.categories)
    return Category.objects.filter(mine, facet=change.facet_id)
