"""Labelling again what a change of the codebook touched: the same raters, marked as due to the change."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.codebook.models import Category, Change, Facet
from annotator.labeling.forms import Filled
from annotator.labeling.models import Answer, Assignment, Round
from annotator.labeling.opening import open_round
from annotator.sampling.models import Bug
from annotator.studies.models import Study

BATCH = 500


@transaction.atomic
def relabel_after(
    *, change: Change, study: Study, name: str, bugs: Sequence[Bug], groups: Mapping[int, Collection[int]], by: User
) -> Round:
    """A relabel round of these bugs for those who rated them: raters' ids by the bug's id.

    What each rater answered to the other facets is filled in as a draft of their own; the touched facet is left open.
    """
    raters = User.objects.filter(pk__in=set().union(*groups.values())).order_by("username")
    opened = open_round(
        study=study,
        name=name,
        bugs=bugs,
        raters=list(raters),
        groups=groups,
        by=by,
        kind=Round.Kind.RELABEL,
        blindness=Round.Blindness.NO,  # the raters could read each other since the close
        due_to=change,
    )
    _carry_over(opened, besides=change.facet_id)
    return opened


def _carry_over(opened: Round, *, besides: int | None) -> None:
    turns = list(Assignment.objects.filter(round=opened).order_by("pk"))
    now = timezone.now()
    for start in range(0, len(turns), BATCH):
        part = turns[start : start + BATCH]
        answers = _own_answers(part, besides=besides)
        for turn in part:
            if given := answers.get((turn.bug_id, turn.rater_id)):
                turn.draft = Filled(answers={key: tuple(uids) for key, uids in given.items()}).as_draft()
                turn.draft_at = now
        Assignment.objects.bulk_update(part, ["draft", "draft_at"])


def _own_answers(turns: Sequence[Assignment], *, besides: int | None) -> dict[tuple[int, int], dict[str, list[str]]]:
    """By bug and rater: the latest answers in rounds that are over, of categories that are still offered."""
    rows = Answer.objects.current().filter(
        bug__in={turn.bug_id for turn in turns},
        rater__in={turn.rater_id for turn in turns},
        category__state=Category.State.ACTIVE,
        facet__decided=Facet.Decided.BLIND,
    )
    rows = rows.exclude(facet=besides).exclude(facet__key=Facet.VERDICT).exclude(round__state=Round.State.OPEN)
    wanted: dict[tuple[int, int, str], tuple[int, list[str]]] = {}
    listed: Any = rows.order_by("round__number", "slot").values_list(
        "bug_id", "rater_id", "facet__key", "category__uid", "round_id"
    )
    for bug, rater, facet, uid, round_id in listed:
        place = (bug, rater, facet)
        latest, uids = wanted.get(place, (round_id, []))
        wanted[place] = (round_id, [*(uids if latest == round_id else []), uid])
    found: dict[tuple[int, int], dict[str, list[str]]] = {}
    for (bug, rater, facet), (_, uids) in wanted.items():
        found.setdefault((bug, rater), {})[facet] = uids
    return found
