"""What a rater's save reads, written once: the round, the turn, and the next one."""

from annotator.labeling.models import Assignment, Round
from annotator.labeling.source import last_edit, links_of
from annotator.sampling.models import Bug
from annotator.studies.models import Role
from annotator.web.prepared import Prepared

TODO = Assignment.State.TODO

ROUND_OF_RATER = Prepared(
    lambda slug, number, user: (
        Round.objects.select_related("study__codebook", "codebook_version")
        .defer("codebook_version__document")
        .filter(study__slug=slug, number=number, study__memberships__user=user, study__memberships__role=Role.RATER)[:1]
    ),
    "slug",
    "number",
    "user",
)
TURN = Prepared(
    lambda round_, rater, number: Assignment.objects.filter(
        round=round_, rater=rater, bug__number=number
    ).select_related("bug")[:1],
    "round_",
    "rater",
    "number",
)
NEXT_TURN = Prepared(
    lambda round_, rater: (
        Assignment.objects.filter(round=round_, rater=rater, state=TODO)
        .exclude(bug__left_reason__in=Bug.FOR_GOOD)
        .select_related("bug__item__repository", "bug__item__text")
        .annotate(edited_at=last_edit("bug__item"), links=links_of("bug__item"))
        .order_by("position")[:1]
    ),
    "round_",
    "rater",
)
TURN_AFTER = Prepared(
    lambda round_, rater, position: (
        Assignment.objects.filter(round=round_, rater=rater, state=TODO, position__gt=position)
        .exclude(bug__left_reason__in=Bug.FOR_GOOD)
        .select_related("bug")
        .only("bug__number")
        .order_by("position")[:1]
    ),
    "round_",
    "rater",
    "position",
)
ROUND = Prepared(lambda round_: Round.objects.select_related("study__codebook").filter(pk=round_)[:1], "round_")
OWN_FOR_UPDATE = Prepared(
    lambda turn, rater: Assignment.objects.select_for_update().filter(pk=turn, rater=rater)[:1], "turn", "rater"
)
