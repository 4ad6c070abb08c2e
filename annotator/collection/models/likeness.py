"""Which items read nearly alike."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.collection.models.items import Item
from annotator.studies.models import Study


class Comparison(models.Model):
    """A search for near-duplicates among a study's items: a row that a worker claims."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="comparisons")
    number = models.PositiveIntegerField()
    threshold = models.FloatField()  # cosine similarity from which two items are shown
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)
    items = models.PositiveIntegerField(default=0)  # compared
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed"]), name="comparison_state"
            ),
            models.UniqueConstraint(fields=["study", "number"], name="comparison_number"),
            models.CheckConstraint(condition=Q(threshold__gt=0, threshold__lte=1), name="comparison_threshold"),
        ]

    def __str__(self) -> str:
        return f"comparison {self.number}"


class NearDuplicate(models.Model):
    """Two items that read nearly alike, such as a fix and its backport. Shown, never merged by itself."""

    comparison = models.ForeignKey(Comparison, on_delete=models.PROTECT, related_name="pairs")
    first = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    similarity = models.FloatField()
    words: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # that both hold, the most telling first

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comparison", "first", "second"], name="near_duplicate_once"),
            models.CheckConstraint(condition=Q(first__lt=models.F("second")), name="near_duplicate_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"
