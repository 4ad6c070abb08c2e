"""What is costly to compute from final labels, kept by the digest of its input: see docs/adr/0013."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotator.codebook.models import Category, Facet
from annotator.sampling.models import Bug
from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class Drawing(models.Model):
    """A figure or table as it was last drawn, and whether what it shows has changed since."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        DRAWN = "drawn", "Drawn"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="drawings")
    key = models.CharField(max_length=64)  # digest of what was asked: its permanent address
    asked: "models.JSONField[Any, Any]" = models.JSONField()  # kind, facets, labels, titles, order, colours
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)
    wanted = models.CharField(max_length=64)  # digest of the input that the next drawing is of
    drawn_of = models.CharField(max_length=64, blank=True)  # digest of the input that this one shows
    data: "models.JSONField[Any, Any]" = models.JSONField(null=True)  # every number it shows, with its n
    svg = models.TextField(blank=True)
    pdf = models.BinaryField(default=b"")
    png = models.BinaryField(default=b"")
    lease_until = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    asked_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    used_at = models.DateTimeField(default=timezone.now)  # last asked for or opened, to the day
    drawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="drawing_key"),
            models.CheckConstraint(condition=Q(state__in=["waiting", "drawn", "failed"]), name="drawing_state"),
        ]

    def __str__(self) -> str:
        return self.key[:12]


class LabelAudit(models.Model):
    """A search for settled labels that a model of text and paths finds least likely: a row that a worker claims."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="label_audits")
    number = models.PositiveIntegerField()
    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="+")
    seed = models.BigIntegerField()
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)
    input_digest = models.CharField(max_length=64, blank=True)  # of labels, texts and paths
    bugs = models.PositiveIntegerField(default=0)  # learnt from
    measures: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # accuracy out of sample, folds, left out
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="label_audit_number"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed"]), name="label_audit_state"
            ),
        ]

    def __str__(self) -> str:
        return f"label audit {self.number}"


class Suspect(models.Model):
    """A settled label that an audit doubts, and what the adjudicator said of it."""

    class Reason(models.TextChoices):
        UNLIKELY = "unlikely", "Unlikely by its text and paths"
        UNLIKE_TWIN = "unlike_twin", "Labelled unlike a near-duplicate"

    class Ruling(models.TextChoices):
        OPEN = "", "Not looked at"
        RIGHT = "right", "The label is right"
        WRONG = "wrong", "The label is wrong"

    audit = models.ForeignKey(LabelAudit, on_delete=models.PROTECT, related_name="suspects")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=11, choices=Reason.choices)
    twin = models.ForeignKey(Bug, null=True, on_delete=models.PROTECT, related_name="+")
    label = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="+")  # as settled when it was looked at
    likely = models.ForeignKey(Category, null=True, on_delete=models.PROTECT, related_name="+")
    probability = models.FloatField(null=True)  # of the label, out of sample
    likely_probability = models.FloatField(null=True)
    words: "models.JSONField[Any, Any]" = models.JSONField(
        default=list
    )  # that spoke for the other, the strongest first
    rank = models.PositiveIntegerField()  # from 1: the least likely first
    ruling = models.CharField(max_length=5, choices=Ruling.choices, blank=True)
    ruled_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    ruled_at = models.DateTimeField(null=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["audit", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["audit", "rank"], name="suspect_rank"),
            models.CheckConstraint(condition=Q(reason__in=["unlikely", "unlike_twin"]), name="suspect_reason"),
            models.CheckConstraint(
                condition=Q(ruling="", ruled_by=None, ruled_at=None)
                | Q(ruling__in=["right", "wrong"], ruled_by__isnull=False, ruled_at__isnull=False),
                name="suspect_ruled_together",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bug}: {self.label}"
