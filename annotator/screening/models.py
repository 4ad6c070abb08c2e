"""What is kept and what is dropped before labelling, and why."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotator.collection.models import Item
from annotator.studies import protocol
from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class CriterionQuerySet(models.QuerySet["Criterion"]):
    def active(self) -> "CriterionQuerySet":
        return self.filter(retired_at=None)


class Criterion(models.Model):
    """A rule of screening: what has to hold, or what keeps a candidate out. Retired, never deleted once one may cite it."""

    class Kind(models.TextChoices):
        INCLUDE = "include", "Has to hold"
        EXCLUDE = "exclude", "Keeps it out"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="criteria")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    position = models.PositiveIntegerField()  # from 1 in its kind: with it the criterion's code, such as E2
    name = models.CharField(max_length=80)
    text = models.TextField(blank=True)
    hotkey = models.CharField(max_length=1, blank=True)
    added_at = models.DateTimeField(auto_now_add=True)
    added_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    late_reason = models.TextField(blank=True)  # why it was added while a screening was open
    retired_at = models.DateTimeField(null=True)
    retired_reason = models.TextField(blank=True)

    objects = CriterionQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "criteria"
        ordering = ["-kind", "position"]  # what has to hold comes first
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "position"], name="criterion_position"),
            models.UniqueConstraint(fields=["study", "kind", "name"], name="criterion_name"),
            models.UniqueConstraint(
                fields=["study", "hotkey"], condition=Q(hotkey__gt="", retired_at=None), name="criterion_hotkey"
            ),
            models.CheckConstraint(condition=Q(kind__in=["include", "exclude"]), name="criterion_kind"),
            models.CheckConstraint(
                condition=Q(retired_at=None, retired_reason="") | Q(retired_at__isnull=False, retired_reason__gt=""),
                name="criterion_retired_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"

    @property
    def code(self) -> str:
        return f"{'I' if self.kind == self.Kind.INCLUDE else 'E'}{self.position}"

    @property
    def ground(self) -> str:
        """The criterion as a reason to exclude."""
        return self.name if self.kind == self.Kind.EXCLUDE else f"does not hold: {self.name}"


class ScreeningQuerySet(models.QuerySet["Screening"]):
    def open(self) -> "ScreeningQuerySet":
        return self.filter(state=Screening.State.OPEN)

    def over(self) -> "ScreeningQuerySet":
        """Closed or imported: what was blind in them is over."""
        return self.exclude(state=Screening.State.OPEN)


class Screening(models.Model):
    """Candidates that the same reviewers read, blind to each other until it closes. Closed is final."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"
        IMPORTED = "imported", "Imported"

    class Rule(models.TextChoices):
        UNANIMOUS = "unanimous", "Unanimous: in or out when all agree, else discussed"
        MAJORITY = "majority", "Majority: in or out when more than half say so, else discussed"
        DISCUSSED = "discussed", "Cautious: in when all include, out when more than half exclude, else discussed"

    Blindness = protocol.Blindness

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="screenings")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    rule = models.CharField(max_length=9, choices=Rule.choices, default=Rule.UNANIMOUS)
    blindness = models.CharField(max_length=8, choices=Blindness.choices, default=Blindness.ENFORCED)
    reviewers: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(USER, related_name="+")
    overlap = models.PositiveIntegerField(default=2)  # how many of them read each candidate
    seed = models.BigIntegerField(default=0)
    choice: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # which items were taken, as asked for
    opened_at = models.DateTimeField(auto_now_add=True)
    opened_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    objects = ScreeningQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.CheckConstraint(
                condition=Q(blindness__in=["enforced", "declared", "unknown", "no"]), name="screening_blindness"
            ),
            models.UniqueConstraint(fields=["study", "number"], name="screening_number"),
            models.UniqueConstraint(fields=["study", "name"], name="screening_name"),
            models.UniqueConstraint(fields=["study"], condition=Q(state="imported"), name="screening_imported_once"),
            models.CheckConstraint(
                condition=Q(state="closed", closed_at__isnull=False)
                | Q(state__in=["open", "imported"], closed_at__isnull=True),
                name="screening_closed_at",
            ),
            models.CheckConstraint(condition=Q(rule__in=["unanimous", "majority", "discussed"]), name="screening_rule"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def is_imported(self) -> bool:
        return self.state == self.State.IMPORTED


class Candidate(models.Model):
    """An item up for a decision."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="candidates")
    screening = models.ForeignKey(Screening, on_delete=models.PROTECT, related_name="candidates")
    item = models.OneToOneField(Item, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()  # from 1: its number in the screening

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["screening", "position"], name="candidate_position"),
            models.CheckConstraint(condition=Q(position__gte=1), name="candidate_position_positive"),
        ]

    def __str__(self) -> str:
        return str(self.item)


class Reading(models.Model):
    """One reviewer's turn at one candidate: where it comes in their own order, and whether they have voted."""

    class State(models.TextChoices):
        TODO = "todo", "To read"
        LATER = "later", "Later"
        VOTED = "voted", "Voted"

    # no index of its own: the one below begins with it
    screening = models.ForeignKey(Screening, on_delete=models.PROTECT, related_name="readings", db_index=False)
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="readings")
    reviewer = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=5, choices=State.choices, default=State.TODO)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate", "reviewer"], name="reading_once"),
            models.CheckConstraint(condition=Q(state__in=["todo", "later", "voted"]), name="reading_state"),
        ]
        indexes = [models.Index(fields=["screening", "reviewer", "state", "position"], name="reading_next")]

    def __str__(self) -> str:
        return f"{self.reviewer}, {self.candidate}"


class VoteQuerySet(models.QuerySet["Vote"]):
    def visible_to(self, user: Any) -> "VoteQuerySet":
        """One's own; of others only what belongs to a screening that is no longer open."""
        return self.filter(Q(reviewer=user) | ~Q(candidate__screening__state=Screening.State.OPEN))

    def blind(self) -> "VoteQuerySet":
        """Given before the close: later ones follow a discussion."""
        return self.filter(turn=Vote.BLIND)


class Vote(models.Model):
    """One reviewer's decision on one candidate: blind, or in a later turn after the close."""

    class Decision(models.TextChoices):
        INCLUDE = "include", "Include"
        EXCLUDE = "exclude", "Exclude"

    BLIND = 1

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="votes")
    reviewer = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    turn = models.PositiveIntegerField(default=BLIND)
    decision = models.CharField(max_length=7, choices=Decision.choices)
    criterion = models.ForeignKey(Criterion, null=True, on_delete=models.PROTECT, related_name="+")
    comment = models.TextField(blank=True)
    cell = models.TextField(blank=True)  # as it stood in the sheet it came from
    at = models.DateTimeField(default=timezone.now)

    objects = VoteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate", "reviewer", "turn"], name="vote_once"),
            models.CheckConstraint(condition=Q(decision__in=["include", "exclude"]), name="vote_decision"),
            models.CheckConstraint(condition=Q(turn__gte=1), name="vote_turn"),
            models.CheckConstraint(condition=Q(decision="exclude") | Q(criterion=None), name="vote_include_cites_none"),
        ]

    def __str__(self) -> str:
        return self.decision


class OutcomeQuerySet(models.QuerySet["Outcome"]):
    def current(self) -> "OutcomeQuerySet":
        return self.filter(is_current=True)


class Outcome(models.Model):
    """The decision on a candidate, and where it came from. Superseded ones stay; one is current."""

    class Source(models.TextChoices):
        SINGLE = "single", "One reviewer"
        UNANIMOUS = "unanimous", "Unanimous"
        MAJORITY = "majority", "Majority"
        DISCUSSED = "discussed", "Discussed"  # all its reviewers agree after the close
        DECIDED = "decided", "Decided"  # by a lead, with a reason
        IMPORTED = "imported", "Imported"  # a sheet says so
        LABELLED = "labelled", "Labelled"  # an imported sheet holds it as a bug
        DROPPED = "dropped", "Dropped later"  # was in, and left afterwards

    DERIVED = (Source.SINGLE, Source.UNANIMOUS, Source.MAJORITY, Source.LABELLED)  # follow from what is stored

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="outcomes")
    decision = models.CharField(max_length=7, choices=Vote.Decision.choices)
    source = models.CharField(max_length=9, choices=Source.choices)
    criterion = models.ForeignKey(Criterion, null=True, on_delete=models.PROTECT, related_name="+")
    note = models.TextField(blank=True)
    participants: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # user names of who agreed on it
    by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    is_current = models.BooleanField(default=True)

    objects = OutcomeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate"], condition=Q(is_current=True), name="outcome_current"),
            models.CheckConstraint(condition=Q(decision__in=["include", "exclude"]), name="outcome_decision"),
            models.CheckConstraint(
                condition=Q(decision="exclude") | Q(criterion=None), name="outcome_include_cites_none"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["single", "unanimous", "majority", "imported", "labelled"])
                | Q(source="discussed", by__isnull=False)
                | Q(source="decided", by__isnull=False, note__gt="")
                | Q(source="dropped", decision="exclude", note__gt=""),
                name="outcome_source",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.decision}, {self.source}"
