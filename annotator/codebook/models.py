"""The questions that raters answer, and the answers they choose from."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.studies.models import Study


def new_uid() -> str:
    """A permanent name for a category: ten characters, never used again."""
    return secrets.token_hex(5)


class Codebook(models.Model):
    """The taxonomy of one study."""

    study = models.OneToOneField(Study, on_delete=models.PROTECT, related_name="codebook")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    source = models.TextField(blank=True)  # the publication that it comes from
    number = models.PositiveIntegerField(default=0)  # of the latest published version
    digest = models.CharField(max_length=64, blank=True)  # and its digest: names its content, so caches go by it

    def __str__(self) -> str:
        return self.title


class Facet(models.Model):
    """One question."""

    class Kind(models.TextChoices):
        NOMINAL = "nominal", "Nominal"
        ORDINAL = "ordinal", "Ordinal"

    class Decided(models.TextChoices):
        BLIND = "blind", "Blind, by each rater"
        JOINT = "joint", "Jointly"
        RULE = "rule", "By rule"

    VERDICT = "verdict"

    codebook = models.ForeignKey(Codebook, on_delete=models.PROTECT, related_name="facets")
    key = models.CharField(max_length=60)
    name = models.CharField(max_length=120)
    definition = models.TextField(blank=True)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.NOMINAL)
    is_many = models.BooleanField(default=False)  # a bug may have several answers
    is_optional = models.BooleanField(default=False)  # "not applicable" is one of its categories
    decided = models.CharField(max_length=5, choices=Decided.choices, default=Decided.BLIND)
    hotkey = models.CharField(max_length=1, blank=True)
    position = models.PositiveIntegerField(default=0)
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["codebook", "key"], name="facet_key"),
            models.CheckConstraint(condition=Q(kind__in=["nominal", "ordinal"]), name="facet_kind"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_verdict(self) -> bool:
        return self.key == self.VERDICT


class Category(models.Model):
    """One answer to a facet's question. Its uid never changes and never returns."""

    class State(models.TextChoices):
        ACTIVE = "active", "Active"
        MERGED = "merged", "Merged"
        RETIRED = "retired", "Retired"

    BUG, NOT_A_BUG = "bug", "not a bug"  # the names in the built-in facet verdict

    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="categories")
    uid = models.CharField(max_length=12, unique=True, default=new_uid)
    name = models.CharField(max_length=600)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    rank = models.FloatField(null=True)  # its place on the scale of an ordinal facet
    position = models.PositiveIntegerField(default=0)
    definition = models.TextField(blank=True)
    include = models.TextField(blank=True)
    exclude = models.TextField(blank=True)
    examples: "models.JSONField[Any, Any]" = models.JSONField(default=list)
    aka: "models.JSONField[Any, Any]" = models.JSONField(default=list)
    hotkey = models.CharField(max_length=1, blank=True)
    is_unverified = models.BooleanField(default=False)  # definition not checked against its source
    is_not_applicable = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=State.choices, default=State.ACTIVE)
    merged_into = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(fields=["facet", "name"], condition=Q(state="active"), name="category_name"),
            models.UniqueConstraint(
                fields=["facet", "parent", "hotkey"],
                condition=~Q(hotkey="") & Q(state="active"),
                name="category_hotkey",
            ),
            models.UniqueConstraint(
                fields=["facet", "hotkey"],
                condition=~Q(hotkey="") & Q(state="active", parent=None),
                name="category_top_hotkey",
            ),
            models.CheckConstraint(
                condition=Q(state="merged", merged_into__isnull=False) | ~Q(state="merged") & Q(merged_into=None),
                name="category_merged",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Version(models.Model):
    """The codebook as it was published: immutable."""

    codebook = models.ForeignKey(Codebook, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    document: "models.JSONField[Any, Any]" = models.JSONField()
    published_at = models.DateTimeField(auto_now_add=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["codebook", "number"], name="version_number")]

    def __str__(self) -> str:
        return f"v{self.number}"
