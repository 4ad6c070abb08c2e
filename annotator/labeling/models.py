"""Raters answer, blind to each other."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotator.codebook.models import Category, Change, Facet, Version
from annotator.sampling.models import Bug
from annotator.studies import protocol
from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class RoundQuerySet(models.QuerySet["Round"]):
    def open(self) -> "RoundQuerySet":
        return self.filter(state=Round.State.OPEN)

    def with_agreement(self) -> "RoundQuerySet":
        """Closed or imported: what was blind in them is over."""
        return self.exclude(state=Round.State.OPEN)


class Round(models.Model):
    """A batch of bugs for given raters, with a gate on their agreement. Closed is final."""

    class Kind(models.TextChoices):
        TRAINING = "training", "Training"
        MAIN = "main", "Main"
        RELABEL = "relabel", "Relabel"
        RETEST = "retest", "Retest"
        AUDIT = "audit", "Audit"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"
        IMPORTED = "imported", "Imported"

    class Design(models.TextChoices):
        FIXED = "fixed", "The same raters for every bug"
        ROTATING = "rotating", "Rotating pairs"
        POOL = "pool", "A pool: who is free takes the next"

    Blindness, GateCoefficient, GateMethod = protocol.Blindness, protocol.GateCoefficient, protocol.GateMethod

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.MAIN)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    blindness = models.CharField(max_length=8, choices=Blindness.choices, default=Blindness.ENFORCED)
    design = models.CharField(max_length=8, choices=Design.choices, default=Design.FIXED)
    overlap = models.PositiveIntegerField(default=2)
    seed = models.BigIntegerField(default=0)
    lease_minutes = models.PositiveIntegerField(default=120)
    shares_codes = models.BooleanField(default=False)  # a proposed code is everybody's at once: not blind as to codes
    # in force when it opened, and once it is closed when it closed; of an imported round with its latest sheet
    codebook_version = models.ForeignKey(Version, null=True, on_delete=models.PROTECT, related_name="+")
    due_to = models.ForeignKey(Change, null=True, on_delete=models.PROTECT, related_name="+")  # what is labelled again
    gate_coefficient = models.CharField(max_length=16, choices=GateCoefficient.choices, blank=True)
    gate_method = models.CharField(max_length=5, choices=GateMethod.choices, default=GateMethod.LOWER)
    gate_bound = models.FloatField(default=0.8)
    gate_min_n = models.PositiveIntegerField(default=10)
    gate_continued_reason = models.TextField(blank=True)  # why the study went on below the gate
    gate_continued_at = models.DateTimeField(null=True)
    gate_continued_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(auto_now_add=True)
    opened_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="round_number"),
            models.UniqueConstraint(fields=["study", "name"], name="round_name"),
            models.CheckConstraint(
                condition=Q(state="closed", closed_at__isnull=False) | ~Q(state="closed") & Q(closed_at=None),
                name="round_closed_at",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["training", "main", "relabel", "retest", "audit"]), name="round_kind"
            ),
            models.CheckConstraint(condition=Q(state__in=["open", "closed", "imported"]), name="round_state"),
            models.CheckConstraint(
                condition=Q(blindness__in=["enforced", "declared", "unknown", "no"]), name="round_blindness"
            ),
            models.CheckConstraint(condition=Q(design__in=["fixed", "rotating", "pool"]), name="round_design"),
            models.CheckConstraint(
                condition=Q(gate_coefficient__in=protocol.GateCoefficient.values), name="round_gate_coefficient"
            ),
            models.CheckConstraint(condition=Q(gate_method__in=protocol.GateMethod.values), name="round_gate_method"),
            models.CheckConstraint(condition=Q(gate_bound__gte=-1, gate_bound__lte=1), name="round_gate_bound"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def lease(self) -> dt.timedelta:
        return dt.timedelta(minutes=self.lease_minutes)


class RoundBug(models.Model):
    """A bug in a round: how many answers it wants and how many places are taken."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="round_bugs")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="round_bugs")
    position = models.PositiveIntegerField()
    overlap = models.PositiveIntegerField()
    taken = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "bug"], name="round_bug"),
            models.CheckConstraint(condition=Q(taken__gte=0) & Q(taken__lte=F("overlap")), name="round_bug_taken"),
        ]
        indexes = [models.Index(fields=["round", "position"], name="round_bug_order")]

    def __str__(self) -> str:
        return f"{self.round}: {self.bug}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def visible_to(self, user: Any) -> "AssignmentQuerySet":
        """One's own; of others only what belongs to a round that is no longer open."""
        return self.filter(Q(rater=user) | ~Q(round__state=Round.State.OPEN))

    def of(self, rater: Any) -> "AssignmentQuerySet":
        return self.filter(rater=rater)

    def wanted(self) -> "AssignmentQuerySet":
        """Without those that nobody waits for any more: not answered yet, of bugs that have left for good."""
        waiting = [Assignment.State.TODO, Assignment.State.CLAIMED, Assignment.State.PARKED]
        return self.exclude(state__in=waiting, bug__left_reason__in=Bug.FOR_GOOD)


class Assignment(models.Model):
    """One rater's turn at one bug of a round."""

    class State(models.TextChoices):
        TODO = "todo", "To do"
        CLAIMED = "claimed", "In hand"
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"
        COVERED = "covered", "Taken by others"
        PARKED = "parked", "Later"

    class Confidence(models.TextChoices):
        SURE = "sure", "Sure"
        FAIRLY = "fairly", "Fairly sure"
        UNSURE = "unsure", "Unsure"

    # no index of its own: those below begin with it
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="assignments", db_index=False)
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="assignments")
    rater = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="assignments")
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=9, choices=State.choices, default=State.TODO)
    lease_until = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)  # of the first submission that stands
    revision = models.PositiveIntegerField(default=0)  # how often it was submitted
    submission_key = models.CharField(max_length=40, blank=True)  # of the last one: the same sent twice counts once
    confidence = models.CharField(max_length=6, choices=Confidence.choices, blank=True)
    note = models.TextField(blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    not_a_bug_reason = models.CharField(max_length=80, blank=True)  # uid of a category below "not a bug", or a word
    skip_reason = models.CharField(max_length=40, blank=True)
    skip_note = models.TextField(blank=True)
    draft: "models.JSONField[Any, Any]" = models.JSONField(null=True)  # for its owner alone
    draft_at = models.DateTimeField(null=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "bug", "rater"], name="assignment_once"),
            models.CheckConstraint(
                condition=Q(state="submitted", submitted_at__isnull=False)
                | ~Q(state="submitted") & Q(submitted_at=None),
                name="assignment_submitted_at",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["todo", "claimed", "submitted", "skipped", "covered", "parked"]),
                name="assignment_state",
            ),
            models.CheckConstraint(
                condition=Q(confidence__in=["", "sure", "fairly", "unsure"]), name="assignment_confidence"
            ),
        ]
        indexes = [
            models.Index(fields=["round", "rater", "state", "position"], name="assignment_next"),
            models.Index(fields=["round", "bug", "state", "active_seconds"], name="assignment_bug"),
        ]

    def __str__(self) -> str:
        return f"{self.rater}, {self.bug}"


class AnswerQuerySet(models.QuerySet["Answer"]):
    def current(self) -> "AnswerQuerySet":
        return self.filter(is_current=True)

    def visible_to(self, user: Any) -> "AnswerQuerySet":
        """One's own; of others only what belongs to a round that is no longer open."""
        return self.filter(Q(rater=user) | ~Q(round__state=Round.State.OPEN))


class Answer(models.Model):
    """The category that a rater gave a facet. Never overwritten: a later revision makes this one not current."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    # Round, bug and rater are the assignment's, the facet is the category's: those rows and what they point at are
    # held by the foreign keys of assignment and category. Round, rater and facet are found by answer_pairs.
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="+", db_constraint=False)
    rater = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="+")
    slot = models.PositiveIntegerField(default=0)  # 0 where the facet takes one answer, else 0, 1, 2 …
    revision = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    is_assisted = models.BooleanField(default=False)  # a suggestion was shown
    version = models.PositiveIntegerField(default=0)  # number of the codebook's version in force; 0: not known
    cell = models.TextField(blank=True)  # as it stood in the sheet it came from
    at = models.DateTimeField(auto_now_add=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "facet", "slot"], condition=Q(is_current=True), name="answer_current"
            ),
        ]
        indexes = [
            models.Index(
                fields=["round", "facet", "rater", "bug", "category", "is_current"],
                condition=Q(is_current=True),
                name="answer_pairs",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.facet}: {self.category}"


class Evidence(models.Model):
    """A quote that a rater pinned: a line of a diff, a comment or the description."""

    class Kind(models.TextChoices):
        LINE = "line", "Line of a diff"
        COMMENT = "comment", "Comment"
        DESCRIPTION = "description", "Description"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="evidence")
    revision = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=11, choices=Kind.choices)
    anchor = models.CharField(max_length=200)  # the element's id on the bug's page
    place = models.TextField()  # how a person names it: path:line, or author and date
    quote = models.TextField()

    class Meta:
        ordering = ["position"]
        verbose_name_plural = "evidence"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["line", "comment", "description"]), name="evidence_kind"),
        ]

    def __str__(self) -> str:
        return self.place


class FurtherBug(models.Model):
    """A rater's note that the pull request fixes another bug: hers alone until the round closes."""

    class State(models.TextChoices):
        NEW = "new", "New"
        MATCHED = "matched", "Made a bug of its own"
        REFUSED = "refused", "Not followed"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="further_bugs")
    note = models.TextField()
    at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.NEW)
    bug = models.ForeignKey(Bug, null=True, on_delete=models.PROTECT, related_name="+")  # what it became
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["new", "matched", "refused"]), name="further_bug_state"),
        ]

    def __str__(self) -> str:
        return self.note[:60]


class Proposal(models.Model):
    """A code that a rater proposed while labelling, with its first example: hers alone until the round closes."""

    class State(models.TextChoices):
        NEW = "new", "New"
        ACCEPTED = "accepted", "Accepted"
        MERGED = "merged", "Merged into another"
        REFUSED = "refused", "Refused"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="proposals")
    category = models.OneToOneField(Category, on_delete=models.PROTECT, related_name="+")
    example = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.NEW)
    reason = models.TextField(blank=True)  # why it was refused or merged
    settled_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["new", "accepted", "merged", "refused"]), name="proposal_state"
            ),
            models.CheckConstraint(
                condition=Q(state="new", settled_at=None) | ~Q(state="new") & Q(settled_at__isnull=False),
                name="proposal_settled",
            ),
        ]

    def __str__(self) -> str:
        return str(self.category)


class Flag(models.Model):
    """A rater's doubt about an answer of a closed round; accepted ones make a relabel round."""

    class State(models.TextChoices):
        NEW = "new", "New"
        ACCEPTED = "accepted", "Accepted"
        REFUSED = "refused", "Refused"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="flags")
    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.NEW)
    decided_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    relabel_round = models.ForeignKey(Round, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "facet"], condition=Q(state="new"), name="flag_once"),
            models.CheckConstraint(condition=Q(state__in=["new", "accepted", "refused"]), name="flag_state"),
        ]

    def __str__(self) -> str:
        return self.reason[:60]
