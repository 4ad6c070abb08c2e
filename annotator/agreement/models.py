"""How well the raters agreed, as counted when a round closed."""

from typing import Any

from django.db import models
from django.db.models import Q

from annotator.labeling.models import Round


class Snapshot(models.Model):
    """Contingency tables and coefficients of a closed or imported round. Recomputed from nothing it is equal."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="snapshots")
    basis = models.CharField(max_length=30, default="as_answered")
    entries: "models.JSONField[Any, Any]" = models.JSONField()  # the list of the `agreement` command
    digest = models.CharField(max_length=64)  # of the canonical JSON of entries
    taken_at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)  # an imported round takes further sheets

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "basis"], condition=Q(is_current=True), name="snapshot_current"),
        ]

    def __str__(self) -> str:
        return f"{self.round}, {self.basis}"
