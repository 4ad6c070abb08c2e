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
    takes_codes = models.BooleanField(default=False)  # open coding: raters may propose categories while they label
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["codebook", "key"], name="facet_key"),
            models.CheckConstraint(condition=Q(kind__in=["nominal", "ordinal"]), name="facet_kind"),
            models.CheckConstraint(condition=Q(decided__in=["blind", "joint", "rule"]), name="facet_decided"),
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
        SPLIT = "split", "Split"
        RETIRED = "retired", "Retired"
        PROPOSED = "proposed", "Proposed"  # a rater's own code: nobody else's until the round closes
        REFUSED = "refused", "Refused"

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
    is_code = models.BooleanField(default=False)  # as somebody worded it: waits to be placed in a category
    state = models.CharField(max_length=8, choices=State.choices, default=State.ACTIVE)
    merged_into = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    split_from = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="parts")
    added_in = models.PositiveIntegerField(default=1)  # number of the version that first held it
    redefined_in = models.PositiveIntegerField(default=0)  # of the one that last changed its meaning
    # Labels given to it in this span say no more what it means: its bugs are labelled again. Without a from: all before.
    relabel_from = models.DateTimeField(null=True)
    relabel_until = models.DateTimeField(null=True)

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
                condition=Q(state__in=["active", "merged", "split", "retired", "proposed", "refused"]),
                name="category_state",
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


class Change(models.Model):
    """A change of the codebook: append-only, with its reason; undone by a counter-change alone."""

    class Act(models.TextChoices):
        ADD = "add", "Added"
        RENAME = "rename", "Renamed"
        CLARIFY = "clarify", "Clarified"
        REDEFINE = "redefine", "Changed in meaning"
        MOVE = "move", "Moved"
        MERGE = "merge", "Merged"
        SPLIT = "split", "Split"
        RETIRE = "retire", "Retired"
        RESTORE = "restore", "Restored"

    codebook = models.ForeignKey(Codebook, on_delete=models.PROTECT, related_name="changes")
    number = models.PositiveIntegerField()
    act = models.CharField(max_length=8, choices=Act.choices)
    # Until somebody labels, a facet may go; what happened to it stays told.
    facet = models.ForeignKey(
        Facet, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="changes"
    )
    categories: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # uids that it touches
    old: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    new: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True)  # none: it waits for the end of the open rounds
    withdrawn_at = models.DateTimeField(null=True)  # while it waited
    version = models.ForeignKey(Version, null=True, on_delete=models.PROTECT, related_name="changes")  # it led to
    undoes = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="undone_by")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["codebook", "number"], name="change_number"),
            models.UniqueConstraint(fields=["undoes"], condition=Q(withdrawn_at=None), name="change_undone_once"),
            models.CheckConstraint(
                condition=Q(
                    act__in=["add", "rename", "clarify", "redefine", "move", "merge", "split", "retire", "restore"]
                ),
                name="change_act",
            ),
            models.CheckConstraint(
                condition=Q(applied_at=None) | Q(withdrawn_at=None), name="change_applied_or_withdrawn"
            ),
            models.CheckConstraint(
                condition=Q(applied_at=None, version=None) | Q(applied_at__isnull=False, version__isnull=False),
                name="change_applied_has_version",
            ),
        ]

    def __str__(self) -> str:
        return f"change {self.number}"


class TellApartQuerySet(models.QuerySet["TellApart"]):
    def in_use(self) -> "TellApartQuerySet":
        """Notes as they stand, between categories that can both be chosen."""
        both = Q(first__state=Category.State.ACTIVE, second__state=Category.State.ACTIVE)
        return self.filter(both, is_current=True).select_related("first__facet", "second").order_by("pk")


class TellApart(models.Model):
    """How to tell two categories apart that raters confuse."""

    first = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)

    objects = TellApartQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], condition=Q(is_current=True), name="tell_apart_once"),
            models.CheckConstraint(condition=Q(first__lt=models.F("second")), name="tell_apart_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first} or {self.second}"


class Memo(models.Model):
    """A thought noted while coding: on a category, or on the codebook where it names none."""

    codebook = models.ForeignKey(Codebook, on_delete=models.PROTECT, related_name="memos")
    category = models.ForeignKey(Category, null=True, on_delete=models.PROTECT, related_name="memos")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return self.text[:60]


class PathRule(models.Model):
    """Files below a path belong to a category: the first rule that fits a file of the repository wins."""

    facet = models.ForeignKey(Facet, on_delete=models.PROTECT, related_name="path_rules")
    repository = models.CharField(max_length=300, blank=True)  # its label; empty: any
    position = models.PositiveIntegerField()
    prefix = models.TextField()
    category = models.ForeignKey(Category, null=True, on_delete=models.PROTECT, related_name="+")  # none: says nothing
    note = models.TextField(blank=True)
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["facet", "repository", "position"], condition=Q(retired_at=None), name="path_rule_position"
            ),
        ]

    def __str__(self) -> str:
        return self.prefix
