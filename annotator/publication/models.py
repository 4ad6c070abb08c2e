"""What leaves the study: numbered data sets, and sentences whose numbers come from the data."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class ReleaseQuerySet(models.QuerySet["Release"]):
    def published(self) -> "ReleaseQuerySet":
        return self.filter(state=Release.State.PUBLISHED)


class Release(models.Model):
    """A data set as it was handed out: immutable once published, named by a number and the hash of its content."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Being written"
        PUBLISHED = "published", "Published"
        FAILED = "failed", "Failed"
        UNCHANGED = "unchanged", "Nothing new"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField(null=True)  # given when it is published: none is left out
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)
    options: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # as publication.options reads them
    sha256 = models.CharField(max_length=64, blank=True)  # of the content, without number and date
    manifest: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # [{path, sha256, bytes}], by path
    checks: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # [{check, passed, must, says}]
    progress: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # {done, of, says}, while it is written
    is_public = models.BooleanField(default=False)  # anyone who has its address may read it
    notes = models.TextField(blank=True)  # what changed, in the lead's words
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    asked_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="release_number"),
            models.UniqueConstraint(fields=["study", "sha256"], condition=Q(state="published"), name="release_once"),
            models.UniqueConstraint(
                fields=["study"], condition=Q(state__in=["waiting", "running"]), name="release_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "published", "failed", "unchanged"]), name="release_state"
            ),
            models.CheckConstraint(
                condition=Q(state="published", number__isnull=False, published_at__isnull=False) & ~Q(sha256="")
                | ~Q(state="published") & Q(number=None, published_at=None, sha256="", is_public=False),
                name="release_published_together",
            ),
        ]

    def __str__(self) -> str:
        return f"release {self.number}" if self.number else "a release"


class Finding(models.Model):
    """One version of a sentence whose numbers are counted when it is read, and frozen in each release."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="findings")
    number = models.PositiveIntegerField()  # of the finding within the study
    version = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    sentence = models.TextField()  # "{share} of bugs are …", as publication.sentences reads it
    asked: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # which labels, facet and categories it counts
    withdrawn_at = models.DateTimeField(null=True)
    why = models.TextField(blank=True)  # it was changed or withdrawn
    written_by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    written_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number", "version"], name="finding_version"),
            models.UniqueConstraint(fields=["study", "number"], condition=Q(is_current=True), name="finding_current"),
        ]

    def __str__(self) -> str:
        return self.sentence[:60]
