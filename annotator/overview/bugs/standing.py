"""Where each bug stands between its draw and its final label: one answer for the flow, the lists and their counts.

A bug stands at one of PLACES. What happens in an open round moves no bug before it closes.
"""

from typing import Any

from django.db.models import Case, CharField, Count, Exists, OuterRef, Q, QuerySet, Value, When

from annotator.adjudication.models import Dispute
from annotator.adjudication.queries import FINAL_KINDS, final_labels, final_rounds
from annotator.codebook.models import Facet
from annotator.labeling.models import Assignment, Round, RoundBug
from annotator.overview.bugs.replacing import NOT_A_BUG
from annotator.sampling.models import Bug
from annotator.studies.models import Study

DUPLICATE, WITHDRAWN, DENIED = "duplicate", "withdrawn", "not_a_bug"
WAITING, IN_HAND, UNANSWERED = "waiting", "in_hand", "unanswered"
IN_DISPUTE, LEFT_OPEN, DONE = "in_dispute", "left_open", "done"
PLACES = {
    DUPLICATE: "duplicate",
    WITHDRAWN: "withdrawn",
    DENIED: "not a bug",
    WAITING: "in no main round yet",
    IN_HAND: "in an open round",
    UNANSWERED: "skipped or unanswered",
    IN_DISPUTE: "in dispute",
    LEFT_OPEN: "left open",
    DONE: "settled",
}
LABELLED = (IN_DISPUTE, LEFT_OPEN, DONE)


def placed(study: Study) -> "QuerySet[Any, Any]":
    """The study's bugs, each with its `place`. The first condition that holds decides."""
    final = final_labels(study).filter(bug=OuterRef("pk"))
    to_label = ~_has_labels(study)
    place = Case(
        When(left_reason=Bug.Left.DUPLICATE, then=Value(DUPLICATE)),
        When(left_reason=Bug.Left.WITHDRAWN, then=Value(WITHDRAWN)),
        When(left_reason=Bug.Left.NOT_A_BUG, then=Value(DENIED)),
        When(Exists(final.filter(NOT_A_BUG, facet__key=Facet.VERDICT)), then=Value(DENIED)),
        When(to_label & Q(_in_round(Q(round__state=Round.State.OPEN))), then=Value(IN_HAND)),
        When(to_label & Q(_in_round(Q())), then=Value(UNANSWERED)),
        When(to_label, then=Value(WAITING)),
        When(Exists(Dispute.objects.filter(bug=OuterRef("pk"), is_open=True)), then=Value(IN_DISPUTE)),
        When(Exists(final.exclude(facet__key=Facet.VERDICT)), then=Value(DONE)),
        default=Value(LEFT_OPEN),
        output_field=CharField(),
    )
    return Bug.objects.filter(study=study).annotate(place=place)


def labelled(study: Study) -> "QuerySet[Bug]":
    """Bugs that are studied and have labels; what it is to be settled is not asked."""
    denied = final_labels(study).filter(NOT_A_BUG, facet__key=Facet.VERDICT)
    return Bug.objects.staying().filter(_has_labels(study), study=study).exclude(pk__in=denied.values("bug"))


def settled(study: Study) -> "QuerySet[Bug]":
    """Of these, those with a final label and no dispute."""
    labels = final_labels(study).exclude(facet__key=Facet.VERDICT)
    disputed = Dispute.objects.filter(study=study, is_open=True)
    return labelled(study).filter(pk__in=labels.values("bug")).exclude(pk__in=disputed.values("bug"))


def _has_labels(study: Study) -> Q:
    """Answers of a round that is over, or a final label."""
    answered = Assignment.objects.filter(
        bug=OuterRef("pk"), round__in=final_rounds(study), state=Assignment.State.SUBMITTED
    )
    return Q(Exists(answered)) | Q(Exists(final_labels(study).filter(bug=OuterRef("pk"))))


def _in_round(wanted: Q) -> Exists:
    return Exists(RoundBug.objects.filter(wanted, bug=OuterRef("pk"), round__kind__in=FINAL_KINDS))


def counts(study: Study) -> dict[str, int]:
    """By place, those with none left out; one query."""
    rows = placed(study).order_by().values("place").annotate(n=Count("pk"))
    found = {row["place"]: row["n"] for row in rows}
    return {place: found[place] for place in PLACES if place in found}
