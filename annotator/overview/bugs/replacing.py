"""Bugs that raters found to be none leave, and the next of the reserve take their places: sampling sees no labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.accounts.models import User
from annotator.adjudication.queries import final_labels
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Round, RoundBug
from annotator.sampling import actions
from annotator.sampling.models import Bug, Drawn, Sample, TopUp
from annotator.sampling.queries import Replacement, replacements
from annotator.studies.models import Study
from annotator.web.errors import Refused

NOT_A_BUG = Q(category__name=Category.NOT_A_BUG) | Q(category__parent__name=Category.NOT_A_BUG)


@dataclass(frozen=True)
class Change:
    """What happens to one sample; to none, where bugs came in another way and nobody replaces them."""

    sample: Sample | None
    leaving: tuple[Bug, ...]
    replacements: tuple[Replacement, ...]


def denied(study: Study) -> "QuerySet[Bug]":
    """Bugs that are still studied though their final verdict, of rounds that are over, is that they are none.

    What is being labelled again waits: its verdict may change, and its raters are not shown what it was.
    """
    verdicts = final_labels(study).filter(NOT_A_BUG, facet__key=Facet.VERDICT, bug__left_at=None)
    again = RoundBug.objects.filter(bug=OuterRef("pk"), round__state=Round.State.OPEN)
    few = list(verdicts.values_list("bug", flat=True))  # a join, planned without statistics, takes minutes
    return Bug.objects.staying().filter(~Exists(again), pk__in=few)


def changes(study: Study) -> list[Change]:
    """What `replace_denied` would do, sample by sample."""
    leaving = list(denied(study).select_related("item__repository").order_by("number"))
    return _changes(study, leaving)


def _changes(study: Study, leaving: Sequence[Bug]) -> list[Change]:
    taken = Drawn.objects.filter(item__in=[bug.item_id for bug in leaving], state=Drawn.State.TAKEN)
    of = dict(taken.values_list("item_id", "sample_id"))
    found = []
    for sample in Sample.objects.filter(study=study).select_related("study").order_by("number"):
        mine = tuple(bug for bug in leaving if of.get(bug.item_id) == sample.pk)
        next_ones = tuple(replacements(sample, leaving=[bug.pk for bug in mine]))
        if mine or next_ones:
            found.append(Change(sample, mine, next_ones))
    rest = tuple(bug for bug in leaving if bug.item_id not in of)
    return [*found, Change(None, rest, ())] if rest else found


@transaction.atomic
def replace_denied(*, study: Study, by: User) -> tuple[list[Bug], list[TopUp]]:
    """Let all of them leave and top up their samples. Returns who left and the replacements, earlier leaves included."""
    Study.objects.select_for_update().get(pk=study.pk)
    found = changes(study)
    if not found:
        raise Refused("No bug waits to be replaced: none is settled as no bug, and none that left lacks a successor.")
    left: list[Bug] = []
    made: list[TopUp] = []
    for change in found:
        if change.leaving:
            left += actions.leave(bugs=change.leaving, reason=Bug.Left.NOT_A_BUG, by=by)
        if change.sample and change.replacements:
            made += actions.top_up(sample=change.sample, by=by)
    return left, made
