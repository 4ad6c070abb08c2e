"""Where each bug stands between its draw and its final label: one answer for the flow, the lists and their counts.

A bug stands at one of PLACES. What happens in an open round moves no bug before it closes.
"""

from collections import Counter
from typing import Any

from django.db import connection
from django.db.models import Case, CharField, Exists, IntegerField, Max, OuterRef, Q, QuerySet, Value, When

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
    having = _answered(study).values("bug").union(final_labels(study, names=False).values("bug"), all=True)
    return Bug.objects.staying().filter(pk__in=having, study=study).exclude(pk__in=denied.values("bug"))


def settled(study: Study) -> "QuerySet[Bug]":
    """Of these, those with a final label and no dispute."""
    labels = final_labels(study, names=False).exclude(facet__key=Facet.VERDICT)
    disputed = Dispute.objects.filter(study=study, is_open=True)
    return labelled(study).filter(pk__in=labels.values("bug")).exclude(pk__in=disputed.values("bug"))


def _has_labels(study: Study) -> Q:
    """Answers of a round that is over, or a final label."""
    answered = _answered(study).filter(bug=OuterRef("pk"))
    return Q(Exists(answered)) | Q(Exists(final_labels(study).filter(bug=OuterRef("pk"))))


def _answered(study: Study) -> "QuerySet[Assignment]":
    return Assignment.objects.filter(round__in=final_rounds(study), state=Assignment.State.SUBMITTED)


def _in_round(wanted: Q) -> Exists:
    return Exists(RoundBug.objects.filter(wanted, bug=OuterRef("pk"), round__kind__in=FINAL_KINDS))


COUNTED = """
SELECT bug.left_reason, final.denied, final.labelled, answered.bug_id IS NOT NULL, dealt.is_open, disputed.bug_id IS NOT NULL,
       COUNT(*)
FROM sampling_bug bug
LEFT JOIN ({final}) final ON final.bug_id = bug.id
LEFT JOIN ({answered}) answered ON answered.bug_id = bug.id
LEFT JOIN ({dealt}) dealt ON dealt.bug_id = bug.id
LEFT JOIN ({disputed}) disputed ON disputed.bug_id = bug.id
WHERE bug.study_id = %s
GROUP BY 1, 2, 3, 4, 5, 6
"""


def counts(study: Study) -> dict[str, int]:
    """By place, those with none left out. As `placed` says it, but each table is read once and not asked bug by bug."""
    found: Counter[str] = Counter()
    for left, denied, labelled, is_answered, is_open, is_disputed, n in _counted(study):
        has_labels = is_answered or denied is not None
        if left:
            place = left
        elif denied:
            place = DENIED
        elif not has_labels:
            place = WAITING if is_open is None else IN_HAND if is_open else UNANSWERED
        elif is_disputed:
            place = IN_DISPUTE
        else:
            place = DONE if labelled else LEFT_OPEN
        found[place] += n
    return {place: found[place] for place in PLACES if found[place]}


def _counted(study: Study) -> list[tuple[Any, ...]]:
    """For each combination of what decides on a bug's place how many bugs have it; None where there is no such row."""
    is_verdict = Q(facet__key=Facet.VERDICT)
    final = final_labels(study, names=False).order_by().values("bug_id")
    dealt = RoundBug.objects.filter(round__study=study, round__kind__in=FINAL_KINDS).order_by().values("bug_id")
    parts = {
        "final": final.annotate(denied=Max(_flag(NOT_A_BUG & is_verdict)), labelled=Max(_flag(~is_verdict))),
        "answered": _answered(study).order_by().values("bug_id").distinct(),
        "dealt": dealt.annotate(is_open=Max(_flag(Q(round__state=Round.State.OPEN)))),
        "disputed": Dispute.objects.filter(study=study, is_open=True).order_by().values("bug_id").distinct(),
    }
    compiled = {name: rows.query.sql_with_params() for name, rows in parts.items()}
    with connection.cursor() as cursor:
        sql = COUNTED.format(**{name: sql for name, (sql, _) in compiled.items()})
        cursor.execute(sql, [*(value for _, params in compiled.values() for value in params), study.pk])
        return list(cursor.fetchall())


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())
