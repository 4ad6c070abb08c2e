"""Reproduction as programs see it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.reproduction import queries, recipes
from annotator.reproduction.models import Host, Log, Recipe, Run, Runner
from annotator.reproduction.queries import Told

LONG = 2**31 - 1


class VersionShape(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    why = serializers.CharField(help_text="it was changed; empty: it is the first")
    by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    at = serializers.DateTimeField(source="created_at")
    digest = serializers.CharField(help_text="of document and script")


class RecipeShape(serializers.Serializer[Recipe]):
    number = serializers.IntegerField(help_text="names the recipe in its study: R-17")
    version = serializers.IntegerField()
    bug = serializers.IntegerField(source="bug.number")
    name = serializers.CharField()
    digest = serializers.CharField(help_text="of document and script")
    verdict = serializers.SerializerMethodField(
        help_text="of the latest series: reproduced, not_reproduced, flaky, fixed_also_fails, infrastructure, waiting; null: never run"
    )

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_verdict(self, recipe: Recipe) -> str | None:
        told = self.context["latest"].get((recipe.study_id, recipe.number))
        return told.verdict.verdict if told else None


class WholeRecipe(RecipeShape):
    document = serializers.DictField(help_text="the recipe file as values, what was left out filled in")
    yaml = serializers.SerializerMethodField(help_text="the same as a file")
    script_name = serializers.CharField()
    script = serializers.CharField()
    versions = serializers.SerializerMethodField(help_text="the latest first")

    def get_yaml(self, recipe: Recipe) -> str:
        return recipes.from_document(recipe.document).yaml()

    @extend_schema_field(VersionShape(many=True))
    def get_versions(self, recipe: Recipe) -> Any:
        rows = Recipe.objects.filter(study=recipe.study_id, number=recipe.number).select_related("created_by")
        return VersionShape(list(rows.order_by("-version")), many=True).data


class NewRecipe(serializers.Serializer[Any]):
    """The recipe as a file's text or as values; one of both."""

    bug = serializers.IntegerField(min_value=1, max_value=LONG)
    yaml = serializers.CharField(required=False, max_length=500_000, trim_whitespace=False)
    document = serializers.DictField(required=False)
    script = serializers.CharField(max_length=recipes.LONGEST_SCRIPT, trim_whitespace=False)


class ChangedRecipe(serializers.Serializer[Any]):
    yaml = serializers.CharField(required=False, max_length=500_000, trim_whitespace=False)
    document = serializers.DictField(required=False)
    script = serializers.CharField(required=False, max_length=recipes.LONGEST_SCRIPT, trim_whitespace=False)
    why = serializers.CharField(max_length=4000)


class RecipeProposal(serializers.Serializer[Any]):
    """A recipe begun from what is known of the bug's item."""

    yaml = serializers.CharField()
    unknown = serializers.ListField(child=serializers.CharField(), help_text="what could not be known, to be filled in")


# --- series and runs


class RunShape(serializers.Serializer[Run]):
    key = serializers.CharField(help_text="names the run")
    environment = serializers.CharField()
    repeat = serializers.IntegerField()
    seed = serializers.IntegerField()
    expects = serializers.CharField(help_text="bug, no_bug; empty in a differential")
    state = serializers.CharField(help_text="waiting, running, ended, cancelled")
    waits_for = serializers.SerializerMethodField(help_text="empty: it does not wait")
    attempt = serializers.IntegerField()
    faults = serializers.ListField(
        child=serializers.DictField(), help_text="attempts before: attempt, outcome, said, host, at"
    )
    outcome = serializers.CharField(help_text="bug, no_bug, observed; others say nothing of the bug; empty: not over")
    said = serializers.CharField(help_text="the outcome in a sentence")
    is_void = serializers.SerializerMethodField()
    exit_code = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    cpu_seconds = serializers.FloatField(allow_null=True)
    peak_mb = serializers.FloatField(allow_null=True)
    gpu_peak_mb = serializers.FloatField(allow_null=True)
    host = serializers.CharField(source="host.name", default="", help_text="empty: the server's own worker")
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_waits_for(self, run: Run) -> str:
        return queries.waits_for(run)

    def get_is_void(self, run: Run) -> bool:
        return run.voided_at is not None


class WholeRun(RunShape):
    stdout = serializers.CharField()
    stderr = serializers.CharField()
    measures = serializers.DictField(help_text="what the oracle read; runner, kernel, GPU")
    installed = serializers.DictField(child=serializers.CharField(), help_text="distributions and versions as found")
    python = serializers.CharField(source="locked.python", default="")
    locked = serializers.CharField(source="locked.locked", default="", help_text="requirements with hashes")
    image = serializers.CharField(source="locked.image", default="", help_text="the container image, by its digest")
    input_digest = serializers.CharField(help_text="of everything that went in")


class SumShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    expects = serializers.CharField()
    outcome = serializers.CharField(help_text="bug, no_bug, observed, flaky, waiting, or what kept it from being tried")
    counted = serializers.IntegerField()
    bugs = serializers.IntegerField()
    of = serializers.IntegerField(help_text="runs in all")
    rate = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="of the rate where it is flaky: Wilson, 95 %"
    )


class SeriesShape(serializers.Serializer[Told]):
    recipe = serializers.IntegerField(source="series.recipe.number")
    version = serializers.IntegerField(source="series.recipe.version")
    number = serializers.IntegerField(source="series.number")
    runner = serializers.CharField(source="series.runner", help_text="empty: whichever the host prefers")
    asked_by = serializers.CharField(source="series.asked_by.username", default=None, allow_null=True)
    asked_at = serializers.DateTimeField(source="series.asked_at")
    is_over = serializers.BooleanField()
    faults = serializers.IntegerField(help_text="runs that say nothing of the bug")
    verdict = serializers.CharField(source="verdict.verdict")
    said = serializers.CharField(source="verdict.said")
    environments = SumShape(source="verdict.environments", many=True)
    votes = serializers.SerializerMethodField(help_text="of a differential: groups, majority, deviants, tie")

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_votes(self, told: Told) -> Any:
        return told.verdict.votes.document() if told.verdict.votes else None


class OneSeries(SeriesShape):
    runs = RunShape(many=True)


class NewSeries(serializers.Serializer[Any]):
    runner = serializers.ChoiceField([*Runner.choices], required=False, allow_blank=True, default="")


class PieceShape(serializers.Serializer[Log]):
    sequence = serializers.IntegerField()
    is_error = serializers.BooleanField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class LogShape(serializers.Serializer[Any]):
    """Pieces behind `after`; ask again with the last one's sequence until the state is ended or cancelled."""

    state = serializers.CharField()
    attempt = serializers.IntegerField(help_text="a further attempt begins its log anew")
    pieces = PieceShape(many=True)


class LogLineShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    is_error = serializers.BooleanField()
    text = serializers.CharField()


class LogLinesShape(serializers.Serializer[Any]):
    total = serializers.IntegerField(help_text="lines in all")
    lines = LogLineShape(many=True)


# --- hosts


class HostShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    can = serializers.DictField(help_text="pythons, memory_mb, gpus, gpu_free_mb, runners, as it last said")
    added_by = serializers.CharField(source="added_by.username")
    added_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(source="token.expires_at")
    seen_at = serializers.DateTimeField(allow_null=True)
    is_present = serializers.SerializerMethodField()

    def get_is_present(self, host: Host) -> bool:
        return queries.is_present(host)


class NewHost(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    days = serializers.IntegerField(required=False, default=366, min_value=1, max_value=366)


class AddedHost(HostShape):
    secret = serializers.SerializerMethodField(help_text="its key, shown this once")

    def get_secret(self, host: Host) -> str:
        return str(self.context["secret"])


class WithWhy(serializers.Serializer[Any]):
    why = serializers.CharField(max_length=4000)


class VoidShape(serializers.Serializer[Any]):
    runs = serializers.IntegerField()
