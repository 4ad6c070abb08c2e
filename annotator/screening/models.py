"""What is kept and what is dropped before labelling, and why."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.collection.models import Item
from annotator.studies.models import Study


class Candidate(models.Model):
    """An item up for a decision."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="candidates")
    item = models.OneToOneField(Item, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return str(self.item)


class Vote(models.Model):
    """One reviewer's decision on one candidate."""

    class Decision(models.TextChoices):
        INCLUDE = "include", "Include"
        EXCLUDE = "exclude", "Exclude"

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="votes")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    turn = models.PositiveIntegerField(default=1)
    decision = models.CharField(max_length=7, choices=Decision.choices)
    reason = models.TextField(blank=True)
    cell = models.TextField(blank=True)  # as it stood in the sheet it came from
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["candidate", "reviewer", "turn"], name="vote_once"),
            models.CheckConstraint(condition=Q(decision__in=["include", "exclude"]), name="vote_decision"),
        ]

    def __str__(self) -> str:
        return self.decision
