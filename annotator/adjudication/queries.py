"""The one definition of final labels."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotator.adjudication.models import Resolution
from annotator.labeling.models import Answer, Round
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput

FINAL, UNANIMOUS = "final", "unanimous"
FINAL_KINDS = (Round.Kind.MAIN, Round.Kind.RELABEL)


def final_labels(study: Study, labels: str = FINAL) -> QuerySet[Any]:
    """Rows with `bug`, `facet`, `slot` and `category`, one per label: the labels of the bugs that are studied.

    What left as a duplicate or was withdrawn is not among them; what is not a bug has its verdict.

    `labels` is "final" (what is settled), "unanimous" (on what the raters agreed blind), or a rater's user name
    (that rater's own answers in rounds that are no longer open). A facet with several answers has several rows.
    Ready for GROUP BY: `.values("facet", "category").annotate(n=Count("id"))`.
    """
    return _labels(study, labels).exclude(bug__in=_gone(study))


def _gone(study: Study) -> QuerySet[Bug]:
    return Bug.objects.filter(study=study, left_reason__in=[Bug.Left.DUPLICATE, Bug.Left.WITHDRAWN])


def _labels(study: Study, labels: str) -> QuerySet[Any]:
    if labels == FINAL:
        return Resolution.objects.filter(study=study, is_current=True, is_stale=False, category__isnull=False)
    rounds = final_rounds(study)
    if labels == UNANIMOUS:
        settled = Resolution.objects.filter(study=study, round__in=rounds, source=Resolution.Source.UNANIMOUS)
        return _without_later(settled, rounds)
    if not Membership.objects.filter(study=study, user__username=labels).exists():
        raise BadInput(f"Labels are “final”, “unanimous” or the user name of a rater; “{labels}” is none of them.")
    given = Answer.objects.current().filter(round__in=rounds, rater__username=labels)
    return _without_later(given, rounds, same_rater=True)


def final_rounds(study: Study | int) -> QuerySet[Round]:
    """The rounds whose answers can become final labels: main and relabel, none that is open."""
    return Round.objects.with_agreement().filter(study=study, kind__in=FINAL_KINDS)


def _without_later(rows: QuerySet[Any], rounds: QuerySet[Round], *, same_rater: bool = False) -> QuerySet[Any]:
    """Leave out what a later round of the bug has replaced."""
    if rounds.count() < 2:
        return rows
    later = Answer.objects.current().filter(
        bug=OuterRef("bug"), round__in=rounds, round__number__gt=OuterRef("round__number")
    )
    if same_rater:
        later = later.filter(rater=OuterRef("rater"))
    return rows.exclude(Exists(later))
