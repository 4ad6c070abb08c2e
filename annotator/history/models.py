"""What happened: append-only."""

from typing import Any

from django.db import models
from django.db.models import Q


class EventQuerySet(models.QuerySet["Event"]):
    def of_study(self, study_id: int) -> "EventQuerySet":
        return self.filter(study_id=study_id)

    def outside_rounds(self, round_ids: list[int], *, except_by: int | None) -> "EventQuerySet":
        """Leave out what happened blind in these rounds, one's own acts excepted."""
        return self.exclude(Q(round_id__in=round_ids) & ~Q(actor_id=except_by))

    def outside_screenings(self, screening_ids: list[int], *, except_by: int | None) -> "EventQuerySet":
        """The same of screenings."""
        return self.exclude(Q(screening_id__in=screening_ids) & ~Q(actor_id=except_by))


class Event(models.Model):
    """One act: who, when, what was done to what, old, new and why. Plain ids, so the log outlives its objects."""

    at = models.DateTimeField(auto_now_add=True)
    study_id = models.BigIntegerField(null=True)
    round_id = models.BigIntegerField(null=True)  # set where the act must stay unseen until that round closes
    screening_id = models.BigIntegerField(null=True)  # the same of a screening
    actor_id = models.BigIntegerField(null=True)
    actor_name = models.CharField(max_length=150, blank=True)
    verb = models.CharField(max_length=60)
    kind = models.CharField(max_length=40)
    object_id = models.BigIntegerField(null=True)
    label = models.CharField(max_length=200, blank=True)  # how a person would name the object
    old: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    new: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    why = models.TextField(blank=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["study_id", "id"], name="event_study"),
            models.Index(fields=["kind", "object_id"], name="event_object"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.label}"


class Seal(models.Model):
    """Digest of the events since the last seal and of that seal: shows later whether the log was touched."""

    at = models.DateTimeField(auto_now_add=True)
    last_event_id = models.BigIntegerField()
    digest = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.last_event_id}:{self.digest[:12]}"
