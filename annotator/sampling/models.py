"""The bugs that are studied."""

from django.db import models

from annotator.collection.models import Item
from annotator.studies.models import Study


class Bug(models.Model):
    """What is labelled: the nth bug of an item. Its number is its name within the study."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="bugs")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="bugs")
    ordinal = models.PositiveIntegerField(default=1)
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "ordinal"], name="bug_ordinal"),
            models.UniqueConstraint(fields=["study", "number"], name="bug_number"),
            models.CheckConstraint(condition=models.Q(ordinal__gte=1), name="bug_ordinal_positive"),
        ]

    def __str__(self) -> str:
        return f"bug {self.number}"
