"""What GitHub is asked, what it answered, and what may still be asked."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.collection.models.items import Item, Repository
from annotator.studies.models import Study


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
