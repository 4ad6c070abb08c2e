"""Research projects and who does what in them."""

from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

USER = settings.AUTH_USER_MODEL


class Role(models.TextChoices):
    LEAD = "lead", "Lead"
    RATER = "rater", "Rater"
    ADJUDICATOR = "adjudicator", "Adjudicator"
    READER = "reader", "Reader"


class StudyQuerySet(models.QuerySet["Study"]):
    def of(self, user: Any) -> "StudyQuerySet":
        return self.filter(memberships__user=user).distinct()


class Study(models.Model):
    """One research project."""

    slug = models.CharField(max_length=60, unique=True, validators=[RegexValidator(r"^[a-z0-9-]+\Z")])
    title = models.CharField(max_length=200)
    question = models.TextField(blank=True)
    # how labels are decided; see studies.protocol
    protocol: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    my_roles: frozenset[str]  # the viewer's, where `study_for` found the study

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title


class Deviation(models.Model):
    """A later change of the protocol: never an edit, always with a reason."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="deviations")
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    old: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    new: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    reason = models.TextField()

    def __str__(self) -> str:
        return self.reason[:60]


class Membership(models.Model):
    """One role of one person in one study."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)
    experience = models.CharField(max_length=200, blank=True)  # reviewers ask for it
    tie = models.CharField(max_length=200, blank=True)  # to the subject systems
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "role"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role}"


class Invitation(models.Model):
    """A one-time link that gives roles in a study."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="invitations")
    roles: "models.JSONField[Any, Any]" = models.JSONField(default=list)
    note = models.CharField(max_length=200, blank=True)  # for whom
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"invitation to {self.study.slug}"


class Session(models.Model):
    """A meeting: training, discussion or consensus."""

    class Kind(models.TextChoices):
        TRAINING = "training", "Training"
        DISCUSSION = "discussion", "Discussion"
        CONSENSUS = "consensus", "Consensus"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="sessions")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    started_by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    participants: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(USER, related_name="+")
    notes = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["training", "discussion", "consensus"]), name="session_kind"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.started_at:%Y-%m-%d}"
