"""The bugs behind one cell of a confusion matrix."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotator.agreement.scales import ANSWERED, Scale, scales_of
from annotator.labeling.models import Answer, Assignment, Round
from annotator.labeling.source import safe_link
from annotator.sampling.models import Bug

PAGE = 50


@dataclass(frozen=True)
class CellBug:
    """A bug with what each of the two raters noted on it."""

    bug: Bug
    notes: tuple[str, ...]

    @property
    def link(self) -> str:
        return safe_link(self.bug.item.url)


@dataclass(frozen=True)
class CellPage:
    """Bugs by number; `after` is the last one's where more follow."""

    facet_name: str
    names: tuple[str, str]
    bugs: tuple[CellBug, ...]
    after: int | None
    hidden: int = 0  # bugs that are left out, since the viewer is yet to decide on them


def cell_page(
    round_: Round,
    *,
    facet: str,
    raters: tuple[str, str],
    uids: tuple[str, str],
    level: str = ANSWERED,
    after: int = 0,
    hidden: Collection[int] = (),
) -> CellPage | None:
    """Bugs to which the first rater gave the first category and the second the second; None where there is no such cell."""
    scales = scales_of(round_, level=level)
    scale = next((scale for scale in scales if scale.key == facet and not scale.is_many), None)
    names = {choice.uid: choice.name for choice in scale.choices} if scale else {}
    if scale is None or round_.is_open or not set(uids) <= names.keys():
        return None
    bugs = Bug.objects.filter(study_id=round_.study_id, number__gt=after)
    for rater, uid in zip(raters, uids, strict=True):
        bugs = bugs.filter(pk__in=_answered(round_, scale, rater, uid))
    left_out = bugs.filter(number__in=hidden)
    bugs = bugs.exclude(number__in=hidden)
    found = list(bugs.select_related("item__repository").order_by("number")[: PAGE + 1])
    shown = found[:PAGE]
    return CellPage(
        facet_name=scale.name,
        names=(names[uids[0]], names[uids[1]]),
        bugs=tuple(_with_notes(round_, shown, raters)),
        after=shown[-1].number if len(found) > PAGE else None,
        hidden=left_out.count() if hidden else 0,
    )


def _answered(round_: Round, scale: Scale, rater: str, uid: str) -> QuerySet[Any, Any]:
    answers = Answer.objects.current().filter(
        round=round_, rater__username=rater, facet_id=scale.facet_id, assignment__state=Assignment.State.SUBMITTED
    )
    if not scale.is_verdict or uid == scale.not_a_bug:
        return answers.filter(category_id__in=scale.ids_of(uid)).values("bug_id")
    denied = answers.filter(category_id__in=scale.ids_of(scale.not_a_bug))
    mine = Assignment.objects.filter(round=round_, rater__username=rater, state=Assignment.State.SUBMITTED)
    return mine.exclude(pk__in=denied.values("assignment_id")).values("bug_id")


def _with_notes(round_: Round, bugs: list[Bug], raters: tuple[str, str]) -> list[CellBug]:
    rows = Assignment.objects.filter(round=round_, bug__in=bugs, rater__username__in=raters)
    notes = {(bug, rater): note for bug, rater, note in rows.values_list("bug_id", "rater__username", "note")}
    return [CellBug(bug, tuple(notes.get((bug.pk, rater), "") for rater in raters)) for bug in bugs]
