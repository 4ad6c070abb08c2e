"""Sheets brought in."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class Import(models.Model):
    """One sheet on its way into a study: the file, how its columns are read, and what came of it."""

    class State(models.TextChoices):
        UPLOADED = "uploaded", "Uploaded"
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed: nothing was stored"
        UNDONE = "undone", "Undone"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="imports")
    number = models.PositiveIntegerField()
    filename = models.CharField(max_length=255)
    file = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    head: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # its sheets' first rows, to choose columns by
    mapping: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State.choices, default=State.UPLOADED)
    rows_done = models.PositiveIntegerField(default=0)
    rows_total = models.PositiveIntegerField(default=0)
    report: "models.JSONField[Any, Any]" = models.JSONField(null=True)  # what the `import_sheet` command prints
    created_ids: "models.JSONField[Any, Any]" = models.JSONField(
        default=dict
    )  # {table: [[first id, last id], …]}, for undo
    # what it filled into rows that were there, for undo: titles and columns by item and context, notes by turn
    filled: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="import_number"),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="import_running_lease"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["uploaded", "waiting", "running", "done", "failed", "undone"]),
                name="import_state",
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.number}: {self.filename}"
