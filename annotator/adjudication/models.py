"""Settling what raters differ on. Nothing here moves the blind numbers."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Round
from annotator.sampling.models import Bug
from annotator.studies.models import Session, Study

USER = settings.AUTH_USER_MODEL


class ResolutionQuerySet(models.QuerySet["Resolution"]):
    def current(self) -> "ResolutionQuerySet":
        return self.filter(is_current=True)


class Resolution(models.Model):
    """The settled label of a bug's facet: who, why, and where it came from. Superseded ones stay.

    A facet with several answers has one row per label, told apart by slot.
    """

    class Source(models.TextChoices):
        UNANIMOUS = "unanimous", "Unanimous"
        MAJORITY = "majority", "Majority"
        DISCUSSED = "discussed", "Discussed"
        ADJUDICATED = "adjudicated", "Adjudicated"
        SINGLE = "single", "One rater"
        JOINT = "joint", "Decided jointly"
        DERIVED = "derived", "Derived"
        IMPORTED = "imported", "Imported"
        UNRESOLVED = "unresolved", "Left open"

    class Reason(models.TextChoices):
        SLIP = "slip", "Slip of a rater"
        MISREAD = "misread", "Source misread"
        GUIDELINE_GAP = "guideline_gap", "Gap in the guideline"
        AMBIGUOUS = "ambiguous", "Source allows both"
        KNOWLEDGE = "knowledge", "Knowledge of the system decides"
        OTHER = "other", "Other"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="resolutions")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="resolutions")
    # facet and round are found by the indexes below
    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="+", db_index=False)
    slot = models.PositiveIntegerField(default=0)
    category = models.ForeignKey(Category, null=True, on_delete=models.PROTECT, related_name="+")
    round = models.ForeignKey(Round, null=True, on_delete=models.PROTECT, related_name="resolutions", db_index=False)
    source = models.CharField(max_length=11, choices=Source.choices)
    by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=14, choices=Reason.choices, blank=True)
    note = models.TextField(blank=True)
    session = models.ForeignKey(Session, null=True, on_delete=models.PROTECT, related_name="+")
    participants: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # user names
    recorded_by = models.ForeignKey(  # who wrote down what the participants said
        USER, null=True, on_delete=models.PROTECT, related_name="+"
    )
    cell = models.TextField(blank=True)  # as it stood in the sheet it came from
    at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)
    is_stale = models.BooleanField(default=False)  # reopened: waits for a new decision

    objects = ResolutionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["bug", "facet", "slot"], condition=Q(is_current=True), name="resolution_current"
            ),
            models.CheckConstraint(
                condition=Q(source="adjudicated", by__isnull=False) & ~Q(reason="")
                | ~Q(source="adjudicated") & Q(by=None, reason=""),
                name="resolution_by_and_reason",
            ),
            models.CheckConstraint(
                condition=Q(source="unresolved", category=None) | ~Q(source="unresolved") & Q(category__isnull=False),
                name="resolution_category",
            ),
            models.CheckConstraint(
                condition=Q(
                    source__in=[
                        "unanimous",
                        "majority",
                        "discussed",
                        "adjudicated",
                        "single",
                        "joint",
                        "derived",
                        "imported",
                        "unresolved",
                    ]
                ),
                name="resolution_source",
            ),
            models.CheckConstraint(
                condition=Q(session=None) & ~Q(source="joint") | Q(recorded_by__isnull=False),
                name="resolution_recorded_by",
            ),
            models.CheckConstraint(
                condition=Q(reason__in=["", "slip", "misread", "guideline_gap", "ambiguous", "knowledge", "other"]),
                name="resolution_reason",
            ),
        ]
        # Each holds all that a count reads, the fields of its condition too: SQLite would look them up in the rows.
        indexes = [
            models.Index(
                fields=["study", "facet", "bug", "category", "is_current", "is_stale"],
                condition=Q(is_current=True, is_stale=False),
                name="resolution_final",
            ),
            models.Index(fields=["round", "facet", "source", "bug", "category"], name="resolution_by_source"),
        ]

    def __str__(self) -> str:
        return f"{self.bug}, {self.facet}: {self.category or 'open'}"


class Dispute(models.Model):
    """A bug's facet on which the raters of a round differ, or whose decision waits to be made again.

    Stored in the transaction that closes the round, since it can be derived only by grouping all answers.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="disputes")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="disputes")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="disputes")
    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="+")
    is_sure = models.BooleanField(default=False)  # every rater of the bug was
    distance = models.FloatField(default=0)  # between the labels, 0 to 1
    at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)  # no later round of the bug, and the verdict leaves it a bug
    is_open = models.BooleanField(default=True)  # nothing settles it yet

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bug", "facet"], condition=Q(is_current=True), name="dispute_current"),
            models.CheckConstraint(condition=Q(is_open=False) | Q(is_current=True), name="dispute_open_is_current"),
        ]
        indexes = [models.Index(fields=["study", "bug"], condition=Q(is_open=True), name="dispute_open")]

    def __str__(self) -> str:
        return f"{self.bug}, {self.facet}"


class Stand(models.Model):
    """A rater's move on a dispute after the close."""

    class Move(models.TextChoices):
        KEEP = "keep", "Keep mine"
        ACCEPT = "accept", "Accept the other's"
        PROPOSE = "propose", "Propose a third"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="stands")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="stands")
    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="+")
    rater = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    move = models.CharField(max_length=7, choices=Move.choices)
    categories = models.ManyToManyField(Category, related_name="+")  # the label that the rater now stands by
    why = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "bug", "facet", "rater"], condition=Q(is_current=True), name="stand_current"
            ),
            models.CheckConstraint(condition=Q(move__in=["keep", "accept", "propose"]), name="stand_move"),
        ]

    def __str__(self) -> str:
        return f"{self.rater}: {self.move}"


class Remark(models.Model):
    """A turn in the discussion of a bug after the close."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="remarks")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="remarks")
    facet = models.ForeignKey(Facet, null=True, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    is_question = models.BooleanField(default=False)  # the adjudicator asks the raters
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.text[:60]


class Acceptance(models.Model):
    """The unanimous bugs of a round accepted in one act, and how many of them a seed draws for a second look."""

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="acceptance")
    bugs = models.PositiveIntegerField()
    share = models.FloatField()  # of them, 0 to 1
    seed = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(share__gte=0, share__lte=1), name="acceptance_share")]

    def __str__(self) -> str:
        return f"acceptance of {self.round}"


class AuditPick(models.Model):
    """A unanimous bug drawn at random for a second look when all the others were accepted."""

    class Outcome(models.TextChoices):
        WAITING = "", "Waiting"
        CONFIRMED = "confirmed", "Confirmed"
        CHANGED = "changed", "Changed"

    acceptance = models.ForeignKey(Acceptance, on_delete=models.PROTECT, related_name="picks")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=9, choices=Outcome.choices, blank=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["acceptance", "bug"], name="audit_pick_once"),
            models.CheckConstraint(condition=Q(outcome__in=["", "confirmed", "changed"]), name="audit_pick_outcome"),
        ]

    def __str__(self) -> str:
        return f"audit of {self.bug}"
