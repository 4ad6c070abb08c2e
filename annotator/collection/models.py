"""What may hold a bug, as it was found."""

from typing import Any

from django.conf import settings
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


class Harvest(models.Model):
    """A query to GitHub and how far it got. What came of it is counted from its findings."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        DONE = "done", "Done"
        CANCELLED = "cancelled", "Cancelled"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="harvests")
    number = models.PositiveIntegerField()
    host = models.CharField(max_length=200, default="github.com")  # tokens for another host never go there
    query: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # as collection.wanted writes it
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)  # why it stands still
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    wake_at = models.DateTimeField(null=True)  # GitHub said to wait until then
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    override_reason = models.TextField(blank=True)  # why it may be sampled though not complete
    refresh_days = models.PositiveIntegerField(null=True)  # beat looks again that often; none: never by itself
    looked_at = models.DateTimeField(null=True)  # when it last came to its end
    rest_requests = models.PositiveIntegerField(default=0)  # what was really sent, by all its runs together
    graphql_requests = models.PositiveIntegerField(default=0)
    points = models.PositiveIntegerField(default=0)
    keys: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # [[name, digest], …] of its last run's tokens
    silent = models.PositiveIntegerField(default=0)  # times in a row that GitHub did not answer

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "paused", "done", "cancelled", "failed"]),
                name="harvest_state",
            ),
            models.UniqueConstraint(fields=["study", "number"], name="harvest_number"),
            models.CheckConstraint(
                condition=Q(refresh_days=None) | Q(refresh_days__gte=1), name="harvest_refresh_positive"
            ),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="harvest_running_lease"
            ),
        ]

    def __str__(self) -> str:
        return f"harvest {self.number}"


class Window(models.Model):
    """A slice of a harvest's time in one repository, small enough for the search to give all of it."""

    class State(models.TextChoices):
        WAITING = "waiting", "Not counted yet"
        LISTING = "listing", "Being listed"
        DONE = "done", "Listed"
        LOOKING = "looking", "Being looked through again"
        BEYOND = "beyond", "Beyond the limit"

    harvest = models.ForeignKey(Harvest, on_delete=models.PROTECT, related_name="windows")
    repository = models.ForeignKey(Repository, on_delete=models.PROTECT, related_name="+")
    starts = models.DateTimeField()
    ends = models.DateTimeField()  # its last second
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    hits = models.PositiveIntegerField(default=0)  # as the search counts them
    cursor = models.CharField(max_length=500, blank=True)  # where the listing goes on
    is_capped = models.BooleanField(default=False)  # holds more than a search gives, and can't be split
    is_partial = models.BooleanField(default=False)  # the search ran out of time or never gave some of its hits

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "listing", "done", "looking", "beyond"]), name="window_state"
            ),
            models.UniqueConstraint(fields=["harvest", "repository", "starts", "ends"], name="window_once"),
            models.CheckConstraint(condition=Q(ends__gte=models.F("starts")), name="window_ends_after"),
        ]

    def __str__(self) -> str:
        return f"{self.repository} {self.starts:%Y-%m-%d %H:%M:%S}–{self.ends:%Y-%m-%d %H:%M:%S}"


class Finding(models.Model):
    """A hit of a harvest, and what became of it."""

    class State(models.TextChoices):
        FOUND = "found", "Found, not held whole yet"
        FETCHED = "fetched", "Fetched"
        UNAVAILABLE = "unavailable", "Unavailable"
        PASSED_OVER = "passed_over", "Passed over: not what was asked for"

    harvest = models.ForeignKey(Harvest, on_delete=models.PROTECT, related_name="findings")
    window = models.ForeignKey(Window, on_delete=models.PROTECT, related_name="findings")
    repository = models.ForeignKey(Repository, on_delete=models.PROTECT, related_name="+")
    number = models.BigIntegerField()
    state = models.CharField(max_length=11, choices=State.choices, default=State.FOUND)
    reason = models.CharField(max_length=20, blank=True)  # 404, 410, 451, …; or words, limit where passed over
    item = models.ForeignKey(Item, null=True, on_delete=models.PROTECT, related_name="+")
    lacks: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # [[what, held, total], …] of the copy
    changed_files = models.PositiveIntegerField(null=True)
    tries = models.PositiveIntegerField(default=0)  # without an answer
    etag = models.CharField(max_length=200, blank=True)  # of its files
    updated_at = models.DateTimeField(null=True)  # GitHub's, when the copy was taken
    edited_at = models.DateTimeField(null=True)  # GitHub's, where it was edited after that

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["harvest", "repository", "number"], name="finding_once"),
            models.CheckConstraint(
                condition=~Q(state="fetched") | Q(item__isnull=False), name="finding_fetched_has_item"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["unavailable", "passed_over"], reason__gt="")
                | Q(state__in=["found", "fetched"], reason=""),
                name="finding_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


class Fault(models.Model):
    """Something that went wrong in a harvest and was got over; what is alike is one row with its number."""

    class Kind(models.TextChoices):
        ALLOWANCE = "allowance", "GitHub’s allowance was used up"
        TOO_FAST = "too_fast", "GitHub said to wait: too many requests in a short time"
        NO_ANSWER = "no_answer", "GitHub did not answer"
        TOKEN = "token", "GitHub refused a token"
        WORKER = "worker", "A worker ended in the middle"

    harvest = models.ForeignKey(Harvest, on_delete=models.PROTECT, related_name="faults")
    kind = models.CharField(max_length=9, choices=Kind.choices)
    place = models.CharField(max_length=200, blank=True)  # which allowance, token, …
    said = models.CharField(max_length=500, blank=True)  # the last time, in GitHub's words or ours
    count = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["allowance", "too_fast", "no_answer", "token", "worker"]), name="fault_kind"
            ),
            models.UniqueConstraint(fields=["harvest", "kind", "place"], name="fault_once"),
            models.CheckConstraint(condition=Q(count__gte=1), name="fault_counted"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.place}".strip()


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


class Comparison(models.Model):
    """A search for near-duplicates among a study's items: a row that a worker claims."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="comparisons")
    number = models.PositiveIntegerField()
    threshold = models.FloatField()  # cosine similarity from which two items are shown
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    message = models.TextField(blank=True)
    items = models.PositiveIntegerField(default=0)  # compared
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed"]), name="comparison_state"
            ),
            models.UniqueConstraint(fields=["study", "number"], name="comparison_number"),
            models.CheckConstraint(condition=Q(threshold__gt=0, threshold__lte=1), name="comparison_threshold"),
        ]

    def __str__(self) -> str:
        return f"comparison {self.number}"


class NearDuplicate(models.Model):
    """Two items that read nearly alike, such as a fix and its backport. Shown, never merged by itself."""

    comparison = models.ForeignKey(Comparison, on_delete=models.PROTECT, related_name="pairs")
    first = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    similarity = models.FloatField()
    words: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # that both hold, the most telling first

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comparison", "first", "second"], name="near_duplicate_once"),
            models.CheckConstraint(condition=Q(first__lt=models.F("second")), name="near_duplicate_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"


class GitHubTokenQuerySet(models.QuerySet["GitHubToken"]):
    def present(self, study: Study) -> "GitHubTokenQuerySet":
        return self.filter(study=study, removed_at=None)

    def usable(self, study: Study, host: str) -> "GitHubTokenQuerySet":
        """Those that may be sent to this host, and to no other."""
        return self.present(study).filter(host=host, refused_at=None)


class GitHubToken(models.Model):
    """A key to one host that a study's harvests use: sealed with the server's secret, shown nowhere."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="github_tokens")
    host = models.CharField(max_length=200)
    name = models.CharField(max_length=100)  # what its owner calls it
    digest = models.CharField(max_length=64)  # its rows of Budget go by it
    sealed = models.TextField()
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)
    refused_at = models.DateTimeField(null=True)  # GitHub no longer takes it
    removed_at = models.DateTimeField(null=True)

    objects = GitHubTokenQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "host", "digest"], condition=Q(removed_at=None), name="github_token_once"
            ),
            models.UniqueConstraint(fields=["study", "name"], condition=Q(removed_at=None), name="github_token_name"),
            models.CheckConstraint(condition=Q(removed_at=None) | Q(sealed=""), name="github_token_removed_is_gone"),
        ]

    def __str__(self) -> str:
        return self.name


class Budget(models.Model):
    """What one token may still ask of one resource; the row `token` holds what the whole token waits for.

    Shared by all workers and commands: taken by a conditional UPDATE. The token itself is stored nowhere.
    """

    digest = models.CharField(max_length=64)  # of the token
    resource = models.CharField(max_length=10)
    remaining = models.IntegerField(null=True)
    limit = models.IntegerField(null=True)
    reserved = models.IntegerField(default=0)  # asked and not answered yet
    reset_at = models.DateTimeField(null=True)
    blocked_until = models.DateTimeField(null=True)
    strikes = models.PositiveIntegerField(default=0)  # secondary limits in a row

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["digest", "resource"], name="budget_once"),
            models.CheckConstraint(condition=Q(reserved__gte=0), name="budget_reserved"),
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.digest[:8]}"
