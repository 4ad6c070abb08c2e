"""What may hold a bug, as it was found."""

from typing import Any

from django.db import models
from django.db.models import Q

from annotator.studies.models import Study


class Repository(models.Model):
    """A source of items: what a sheet calls it, and its place on GitHub where that is known."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="repositories")
    label = models.CharField(max_length=300)
    host = models.CharField(max_length=200, blank=True)
    owner = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=200, blank=True)
    github_id = models.BigIntegerField(null=True)
    names: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # owner/name in lower case: all it ever had

    class Meta:
        verbose_name_plural = "repositories"
        constraints = [
            models.UniqueConstraint(fields=["study", "label"], name="repository_label"),
            models.UniqueConstraint(
                fields=["study", "github_id"], condition=Q(github_id__isnull=False), name="repository_github"
            ),
        ]

    def __str__(self) -> str:
        return self.label

    def identity_of(self, number: int) -> str:
        """What makes a thing of it the same again, as sheets are read: host/owner/name#number in lower case."""
        if self.github_id is not None and self.label.endswith(f"({self.github_id})"):  # another had the name before
            return f"{self.host}/repositories/{self.github_id}#{number}"
        return f"{self.host}/{self.owner}/{self.name}#{number}".lower()


class Item(models.Model):
    """Something found: a pull request, an issue, or another thing with a key of its own. Slim, for lists."""

    class Kind(models.TextChoices):
        PULL_REQUEST = "pull_request", "Pull request"
        ISSUE = "issue", "Issue"
        OTHER = "other", "Other"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="items")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    repository = models.ForeignKey(Repository, null=True, on_delete=models.PROTECT, related_name="items")
    number = models.BigIntegerField(null=True)
    key = models.CharField(max_length=500, blank=True)
    identity = models.CharField(max_length=600)  # what makes it the same item again; see intake.identity
    url = models.TextField(blank=True)
    title = models.TextField(blank=True)
    state = models.CharField(max_length=20, blank=True)
    author = models.CharField(max_length=200, blank=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    merged_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)  # when the copy was taken; none: there is no copy
    labels: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # their names, when the copy was taken

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["pull_request", "issue", "other"]), name="item_kind"),
            models.UniqueConstraint(fields=["study", "identity"], name="item_identity"),
            models.CheckConstraint(condition=~Q(identity=""), name="item_has_identity"),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """How a person names it: repository#number, else its key or address."""
        if self.number is not None:
            return f"{self.repository or ''}#{self.number}"
        return self.key or self.url or self.title


class ItemText(models.Model):
    """The description of an item, as written."""

    item = models.OneToOneField(Item, on_delete=models.PROTECT, related_name="text")
    body = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.body[:60]


class Context(models.Model):
    """Columns of a sheet that are shown beside a bug: of the item's nth bug."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="contexts")
    ordinal = models.PositiveIntegerField()
    values: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # {name: cell}, in the sheet's order

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "ordinal"], name="context_once")]

    def __str__(self) -> str:
        return f"{len(self.values)} columns"


class Comment(models.Model):
    """A turn of the discussion."""

    class Kind(models.TextChoices):
        COMMENT = "comment", "Comment"
        REVIEW = "review", "Review"
        INLINE = "inline", "Review comment"

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="comments")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.COMMENT)
    author = models.CharField(max_length=200, blank=True)  # empty: the account was deleted
    at = models.DateTimeField(null=True)
    body = models.TextField(blank=True)
    path = models.TextField(blank=True)
    line = models.PositiveIntegerField(null=True)
    verdict = models.CharField(max_length=20, blank=True)  # of a review: approved, changes_requested, …
    github_id = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="comment_position"),
            models.CheckConstraint(condition=Q(kind__in=["comment", "review", "inline"]), name="comment_kind"),
        ]

    def __str__(self) -> str:
        return self.body[:60]


class Commit(models.Model):
    """A commit of a pull request."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="commits")
    position = models.PositiveIntegerField()
    sha = models.CharField(max_length=64)
    message = models.TextField(blank=True)
    author = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["item", "position"], name="commit_position")]

    def __str__(self) -> str:
        return self.sha[:10]


class ChangedFile(models.Model):
    """A file that a pull request changes."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="files")
    position = models.PositiveIntegerField()
    path = models.TextField()
    old_path = models.TextField(blank=True)
    status = models.CharField(max_length=12, blank=True)
    additions = models.PositiveIntegerField(default=0)
    deletions = models.PositiveIntegerField(default=0)
    note = models.CharField(max_length=12, blank=True)  # why there is no patch: binary, too_large, no_change

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["item", "position"], name="file_position")]

    def __str__(self) -> str:
        return self.path


class Patch(models.Model):
    """What a pull request does to one file: a unified diff without its head."""

    file = models.OneToOneField(ChangedFile, on_delete=models.PROTECT, related_name="patch")
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:60]


class Link(models.Model):
    """What an item says about another: a pull request and the issue that it closes. The other need not be held."""

    class Source(models.TextChoices):
        CLOSING = "closing", "GitHub's closing reference"
        KEYWORD = "keyword", "Words such as “fixes #12”"
        MENTION = "mention", "Mentioned"

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="links")
    host = models.CharField(max_length=200)
    owner = models.CharField(max_length=200)
    name = models.CharField(max_length=200)
    number = models.BigIntegerField()
    source = models.CharField(max_length=8, choices=Source.choices)
    title = models.TextField(blank=True)
    target = models.ForeignKey(Item, null=True, on_delete=models.PROTECT, related_name="linked_from")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "host", "owner", "name", "number"], name="link_once"),
            models.CheckConstraint(condition=Q(source__in=["closing", "keyword", "mention"]), name="link_source"),
        ]

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}#{self.number}"


class Edit(models.Model):
    """A later change on GitHub of what is held: the frozen copy stays, this stands beside it."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="edits")
    edited_at = models.DateTimeField()  # GitHub's
    seen_at = models.DateTimeField()
    changes: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # [{part, diff}, …]: unified diffs

    class Meta:
        ordering = ["edited_at"]
        constraints = [models.UniqueConstraint(fields=["item", "edited_at"], name="edit_once")]

    def __str__(self) -> str:
        return f"edit of {self.edited_at:%Y-%m-%d}"
