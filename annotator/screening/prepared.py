"""What a reviewer's vote reads, written once: the screening, the reading, the vote, the criteria, and the next one."""

from annotator.screening.models import Criterion, Reading, Screening, Vote
from annotator.studies.models import Role
from annotator.web.prepared import Prepared

TODO = Reading.State.TODO

SCREENING_OF_REVIEWER = Prepared(
    lambda slug, number, user: Screening.objects.select_related("study").filter(
        study__slug=slug, number=number, study__memberships__user=user, study__memberships__role=Role.RATER
    )[:1],
    "slug",
    "number",
    "user",
)
SCREENING = Prepared(lambda screening: Screening.objects.filter(pk=screening)[:1], "screening")
READING = Prepared(
    lambda screening, reviewer, candidate: Reading.objects.filter(
        screening=screening, reviewer=reviewer, candidate__position=candidate
    ).select_related("candidate")[:1],
    "screening",
    "reviewer",
    "candidate",
)
OWN_FOR_UPDATE = Prepared(
    lambda reading, reviewer: (
        Reading.objects.select_for_update(of=("self",))
        .select_related("candidate")
        .filter(pk=reading, reviewer=reviewer)[:1]
    ),
    "reading",
    "reviewer",
)
OWN_VOTE = Prepared(
    lambda candidate, reviewer: Vote.objects.select_related("criterion").filter(
        candidate=candidate, reviewer=reviewer, turn=Vote.BLIND
    )[:1],
    "candidate",
    "reviewer",
)
CRITERIA = Prepared(lambda study: Criterion.objects.active().filter(study=study), "study")
NEXT_READING = Prepared(
    lambda screening, reviewer: (
        Reading.objects.filter(screening=screening, reviewer=reviewer, state=TODO)
        .select_related("candidate__item__repository", "candidate__item__text")
        .order_by("position")[:1]
    ),
    "screening",
    "reviewer",
)
READING_AFTER = Prepared(
    lambda screening, reviewer, position: (
        Reading.objects.filter(screening=screening, reviewer=reviewer, state=TODO, position__gt=position)
        .select_related("candidate")
        .only("candidate__position")
        .order_by("position")[:1]
    ),
    "screening",
    "reviewer",
    "position",
)
