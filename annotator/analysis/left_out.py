"""What a table leaves out, and why: together with its n it is every bug that the study ever had."""

from typing import Any

from django.db.models import Exists, OuterRef, Q

from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import FINAL, final_labels
from annotator.analysis.queries import Question
from annotator.sampling.models import Bug
from annotator.studies.models import Study

LEFT = ("duplicate", "withdrawn")  # whatever their labels, they count nowhere


def left_out(study: Study, labels: str, questions: list[Question], n: int) -> dict[str, int]:
    """By reason, each bug under one: those that left; then, of final labels, not bugs, in dispute, left open; the rest.

    `n` is how many bugs the table counts: those with labels of all the questions.
    """
    bugs = Bug.objects.filter(study=study)
    found = {reason: bugs.filter(left_at__isnull=False, left_reason=reason).count() for reason in LEFT}
    rest = bugs.count() - n - sum(found.values())
    if labels == FINAL and rest:
        told = unsettled(study, [question.id for question in questions])
        found |= told
        rest -= sum(told.values())
    return found | {"not_labelled": rest}


def unsettled(study: Study, facets: list[int]) -> dict[str, int]:
    """Of bugs that stay, or are none, and lack a label of one of the facets."""
    disputes = Dispute.objects.filter(study=study, facet__in=facets, is_open=True).values("bug")
    open_ = Resolution.objects.current().filter(study=study, facet__in=facets, category=None).values("bug")
    bugs = Bug.objects.filter(study=study)
    lacks = lacking(study, facets)
    denied = bugs.filter(lacks, left_at__isnull=False, left_reason=Bug.Left.NOT_A_BUG)
    disputed = bugs.filter(lacks, pk__in=disputes, left_at=None)
    left = bugs.filter(lacks, pk__in=open_, left_at=None).exclude(pk__in=disputes)
    return {"not_a_bug": denied.count(), "in_dispute": disputed.count(), "left_open": left.count()}


def lacking(study: Study, facets: list[int]) -> Q:
    """Bugs without a final label of one of the facets or more."""
    lacks: Any = Q(pk=None)
    for facet in facets:
        lacks |= ~Q(Exists(final_labels(study).filter(bug=OuterRef("pk"), facet=facet)))
    return lacks  # type: ignore[no-any-return]  # Q made of Q
