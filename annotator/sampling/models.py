"""The bugs that are studied, and how they were drawn."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotator.collection.models import Item, Repository
from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class BugQuerySet(models.QuerySet["Bug"]):
    def staying(self) -> "BugQuerySet":
        """Those that have not left."""
        return self.filter(left_at=None)


class Bug(models.Model):
    """What is labelled: the nth bug of an item. Its number is its name within the study."""

    class Left(models.TextChoices):
        NOT_A_BUG = "not_a_bug", "Not a bug"
        DUPLICATE = "duplicate", "Duplicate"
        WITHDRAWN = "withdrawn", "Withdrawn"

    # nothing of it is asked any more; what is no bug may be looked at again
    FOR_GOOD = (Left.DUPLICATE, Left.WITHDRAWN)

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="bugs")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="bugs")
    ordinal = models.PositiveIntegerField(default=1)
    number = models.PositiveIntegerField()
    left_at = models.DateTimeField(null=True)  # when it left the study's bugs; what was said of it stays
    left_reason = models.CharField(max_length=9, choices=Left.choices, blank=True)
    left_note = models.TextField(blank=True)

    objects = BugQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "ordinal"], name="bug_ordinal"),
            models.UniqueConstraint(fields=["study", "number"], name="bug_number"),
            models.CheckConstraint(condition=Q(ordinal__gte=1), name="bug_ordinal_positive"),
            models.CheckConstraint(
                condition=Q(left_at=None, left_reason="", left_note="")
                | Q(left_at__isnull=False, left_reason="not_a_bug")
                | Q(left_at__isnull=False, left_reason__in=["duplicate", "withdrawn"], left_note__gt=""),
                name="bug_left_together",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "left_reason"], condition=Q(left_at__isnull=False), name="bug_left"),
        ]

    def __str__(self) -> str:
        return f"bug {self.number}"


class Place(models.Model):
    """A bug's repository and the months of its item, as 202103 in UTC: a copy for counts that the database alone writes.

    See overview.places; no foreign keys are checked of a copy.
    """

    bug = models.OneToOneField(Bug, primary_key=True, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    repository = models.ForeignKey(
        Repository, null=True, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    merged_month = models.IntegerField(null=True)
    closed_month = models.IntegerField(null=True)

    class Meta:
        indexes = [  # all that is read: PostgreSQL then takes half of the time
            models.Index(fields=["bug", "repository", "merged_month", "closed_month"], name="place_counted"),
        ]

    def __str__(self) -> str:
        return f"place of {self.bug}"


class Sample(models.Model):
    """A draw: the whole pool as an ordered list, by rule and seed. Its beginning is taken, the rest is the reserve."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="samples")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    rule: "models.JSONField[Any, Any]" = models.JSONField()  # as sampling.rules writes it
    seed = models.BigIntegerField()
    digest = models.CharField(max_length=64)  # of the pool in its canonical order, the rule and the seed
    pool_size = models.PositiveIntegerField()
    override_reason = models.TextField(blank=True)  # why it was drawn though a harvest behind it is not complete
    drawn_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="sample_number"),
            models.UniqueConstraint(fields=["study", "name"], name="sample_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Stratum(models.Model):
    """A part of a sample's pool with a quota of its own. A sample that is not stratified has one, without a label."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="strata")
    label = models.CharField(max_length=300, blank=True)
    size = models.PositiveIntegerField()  # items
    quota = models.PositiveIntegerField(null=True)  # bugs; none: as many as the part yields that yields the fewest

    class Meta:
        verbose_name_plural = "strata"
        constraints = [models.UniqueConstraint(fields=["sample", "label"], name="stratum_label")]

    def __str__(self) -> str:
        return self.label


class Drawn(models.Model):
    """An item's place in the list of a sample: still in reserve, or taken up as a bug."""

    class State(models.TextChoices):
        RESERVE = "reserve", "Reserve"
        TAKEN = "taken", "Taken up"

    # no indexes of their own: those below begin with them
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="drawn", db_index=False)
    stratum = models.ForeignKey(Stratum, on_delete=models.PROTECT, related_name="drawn", db_index=False)
    position = models.PositiveIntegerField()  # from 1, over all strata
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    moment = models.DateTimeField(null=True)  # what it was ordered by, where that is a date
    state = models.CharField(max_length=7, choices=State.choices, default=State.RESERVE)
    taken_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "place in a sample"
        verbose_name_plural = "places in samples"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "position"], name="drawn_position"),
            models.UniqueConstraint(fields=["sample", "item"], name="drawn_item"),
            models.UniqueConstraint(fields=["item"], condition=Q(state="taken"), name="drawn_taken_once"),
            models.CheckConstraint(
                condition=Q(state="reserve", taken_at=None) | Q(state="taken", taken_at__isnull=False),
                name="drawn_taken_at",
            ),
        ]
        indexes = [models.Index(fields=["stratum", "state", "position"], name="drawn_next")]

    def __str__(self) -> str:
        return f"{self.sample}, {self.position}"


class TopUp(models.Model):
    """A replacement: the bug that left a sample's quota, and the one of the reserve that took its place."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="top_ups")
    left = models.OneToOneField(Bug, on_delete=models.PROTECT, related_name="replaced_by")
    came = models.OneToOneField(Bug, on_delete=models.PROTECT, related_name="replaces")
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        verbose_name = "top-up"
        constraints = [models.CheckConstraint(condition=~Q(left=F("came")), name="top_up_of_another")]

    def __str__(self) -> str:
        return f"{self.came} for {self.left}"
