"""How a bug is made to happen again, and every try at it."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.accounts.models import Token
from annotator.sampling.models import Bug
from annotator.studies.models import Study

USER = settings.AUTH_USER_MODEL


class Runner(models.TextChoices):
    """What contains a script while it runs."""

    LOCAL = "local", "bubblewrap"
    DOCKER = "docker", "Docker or podman"
    SLURM = "slurm", "Slurm"


class Environment(models.Model):
    """What a script runs in, down to exact versions: named by the digest of its lock."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="environments")
    digest = models.CharField(max_length=64)  # of all that follows
    python = models.CharField(max_length=200, blank=True)  # as found: 3.8.18
    locked = models.TextField(blank=True)  # requirements with versions and hashes, one a line
    image = models.CharField(max_length=500, blank=True)  # by digest, where an image stands instead
    variables: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    setup: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # commands, in order
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "digest"], name="environment_digest")]

    def __str__(self) -> str:
        return self.digest[:12]


class HostQuerySet(models.QuerySet["Host"]):
    def present(self) -> "HostQuerySet":
        return self.filter(removed_at=None)


class Host(models.Model):
    """A machine that runs a study's recipes, with a key of its own, and what it last said that it can do."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="hosts")
    name = models.CharField(max_length=100)
    token = models.OneToOneField(Token, on_delete=models.PROTECT, related_name="+")  # of the scope runner alone
    can: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # as clients.sandboxes tells of a machine
    added_by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    objects = HostQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], condition=Q(removed_at=None), name="host_name"),
        ]

    def __str__(self) -> str:
        return self.name


class RecipeQuerySet(models.QuerySet["Recipe"]):
    def current(self) -> "RecipeQuerySet":
        return self.filter(is_current=True)


class Recipe(models.Model):
    """One version of how to make a bug happen: environments, a script, an oracle. Changed by a further version."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="recipes")
    bug = models.ForeignKey(Bug, on_delete=models.PROTECT, related_name="recipes")
    number = models.PositiveIntegerField()  # of the recipe within the study: R-17
    version = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    name = models.CharField(max_length=200)
    document: "models.JSONField[Any, Any]" = models.JSONField()  # the recipe file, as reproduction.recipes reads it
    script_name = models.CharField(max_length=200)
    script = models.TextField()
    digest = models.CharField(max_length=64)  # of document and script
    why = models.TextField(blank=True)  # it was changed
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RecipeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number", "version"], name="recipe_version"),
            models.UniqueConstraint(fields=["study", "number"], condition=Q(is_current=True), name="recipe_current"),
            models.CheckConstraint(condition=Q(version__gte=1), name="recipe_version_positive"),
        ]

    def __str__(self) -> str:
        return f"R-{self.number}"


class Series(models.Model):
    """One time that a recipe was asked for: every environment of it, as often as it says. Its runs give a verdict."""

    recipe = models.ForeignKey(Recipe, on_delete=models.PROTECT, related_name="series")
    number = models.PositiveIntegerField()
    runner = models.CharField(max_length=6, choices=Runner.choices, blank=True)  # none: whichever the host prefers
    asked_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "series"
        constraints = [
            models.UniqueConstraint(fields=["recipe", "number"], name="series_number"),
            models.CheckConstraint(condition=Q(runner__in=["", *Runner.values]), name="series_runner"),
        ]

    def __str__(self) -> str:
        return f"series {self.number}"


class RunQuerySet(models.QuerySet["Run"]):
    def counted(self) -> "RunQuerySet":
        """Those that say something of the bug: neither faults of a runner nor void."""
        return self.filter(state=Run.State.ENDED, outcome__in=Run.COUNTED, voided_at=None)


class Run(models.Model):
    """One try in one environment. The row is the truth: a worker claims it, renews its lease, and may die."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        ENDED = "ended", "Ended"
        CANCELLED = "cancelled", "Cancelled"

    class Expects(models.TextChoices):
        BUG = "bug", "The bug"
        NO_BUG = "no_bug", "No bug"

    class Outcome(models.TextChoices):
        BUG = "bug", "The bug showed"
        NO_BUG = "no_bug", "The bug did not show"
        OBSERVED = "observed", "Observed"  # of a differential: compared afterwards
        NO_INTERPRETER = "no_interpreter", "No such interpreter"
        NOT_INSTALLED = "not_installed", "Not installed"
        OUT_OF_MEMORY = "out_of_memory", "Killed for memory"
        TIMED_OUT = "timed_out", "Out of time"
        TOO_MUCH = "too_much", "Too much output"
        NO_GPU = "no_gpu", "No GPU"
        REFUSED = "refused", "No sandbox"
        LOST = "lost", "Lost with its runner"
        FAULT = "fault", "The runner failed"

    COUNTED = (Outcome.BUG, Outcome.NO_BUG, Outcome.OBSERVED)

    class Queue(models.TextChoices):
        CPU = "reproduction", "CPU"
        GPU = "gpu", "GPU"

    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="runs")
    key = models.CharField(max_length=64, unique=True)  # of all that makes it this try and no other
    environment = models.CharField(max_length=100)  # its name in the recipe
    position = models.PositiveIntegerField()  # of the environment in the recipe
    repeat = models.PositiveIntegerField()  # from 1
    seed = models.BigIntegerField()
    expects = models.CharField(max_length=6, choices=Expects.choices, blank=True)
    queue = models.CharField(max_length=12, choices=Queue.choices)
    needs: "models.JSONField[Any, Any]" = models.JSONField(
        default=dict
    )  # python, image, memory_mb, gpus, gpu_memory_mb

    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveIntegerField(default=0)  # of which the last one alone counts
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="runs")  # none: this machine
    faults: "models.JSONField[Any, Any]" = models.JSONField(
        default=list
    )  # [{attempt, outcome, said, host, at}]: before

    outcome = models.CharField(max_length=14, choices=Outcome.choices, blank=True)
    said = models.TextField(blank=True)  # the outcome in a sentence
    exit_code = models.IntegerField(null=True)
    seconds = models.FloatField(null=True)  # wall time
    cpu_seconds = models.FloatField(null=True)
    peak_mb = models.FloatField(null=True)
    gpu_peak_mb = models.FloatField(null=True)
    stdout = models.TextField(blank=True)  # bounded
    stderr = models.TextField(blank=True)  # bounded
    measures: "models.JSONField[Any, Any]" = models.JSONField(
        default=dict
    )  # what the oracle read; which runner, kernel, GPU
    installed: "models.JSONField[Any, Any]" = models.JSONField(default=dict)  # {distribution: version}, as found
    locked = models.ForeignKey(Environment, null=True, on_delete=models.PROTECT, related_name="runs")
    input_digest = models.CharField(max_length=64, blank=True)  # of everything that went in
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)  # with all runs of its host

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["series", "position", "repeat"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    outcome__in=[
                        "",
                        "bug",
                        "no_bug",
                        "observed",
                        "no_interpreter",
                        "not_installed",
                        "out_of_memory",
                        "timed_out",
                        "too_much",
                        "no_gpu",
                        "refused",
                        "lost",
                        "fault",
                    ]
                ),
                name="run_outcome",
            ),
            models.UniqueConstraint(fields=["series", "environment", "repeat"], name="run_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "ended", "cancelled"]), name="run_state"
            ),
            models.CheckConstraint(
                condition=Q(state="running", lease_until__isnull=False) & ~Q(lease_owner="")
                | ~Q(state="running") & Q(lease_until=None, lease_owner=""),
                name="run_lease_while_running",
            ),
            models.CheckConstraint(
                condition=Q(state="ended", ended_at__isnull=False) & ~Q(outcome="") | ~Q(state="ended") & Q(outcome=""),
                name="run_outcome_when_ended",
            ),
            models.CheckConstraint(condition=Q(repeat__gte=1), name="run_repeat"),
            models.CheckConstraint(condition=Q(expects__in=["", "bug", "no_bug"]), name="run_expects"),
            models.CheckConstraint(condition=Q(queue__in=["reproduction", "gpu"]), name="run_queue"),
        ]
        indexes = [
            models.Index(fields=["queue", "id"], condition=Q(state="waiting"), name="run_waiting"),
            models.Index(fields=["lease_until"], condition=Q(state="running"), name="run_running"),
        ]

    def __str__(self) -> str:
        return f"{self.environment}, {self.repeat}"


class Log(models.Model):
    """A piece of what an attempt wrote, while it writes."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="log")
    attempt = models.PositiveIntegerField()
    sequence = models.PositiveIntegerField()
    is_error = models.BooleanField(default=False)  # it came on standard error
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "attempt", "sequence"]
        constraints = [models.UniqueConstraint(fields=["run", "attempt", "sequence"], name="log_sequence")]

    def __str__(self) -> str:
        return self.text[:60]
