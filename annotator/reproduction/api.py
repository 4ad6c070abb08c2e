"""REST: recipes, their series and runs, and the hosts that run them. What a rater may not see yet is not there."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.reproduction import actions, hosts, listing, outputs, proposing, queries, recipes, replaying, waking
from annotator.reproduction import serializers as shapes
from annotator.reproduction.models import Host, Recipe, RecipeQuerySet, Run, Series
from annotator.sampling.models import Bug
from annotator.studies.models import Role
from annotator.studies.rest import StudyList, StudyView, whole
from annotator.web.errors import BadInput, Gathering

WRITERS = queries.WRITERS


class RecipeView(StudyView):
    def recipes(self, *roles: str) -> RecipeQuerySet:
        study = self.study(*roles)
        return queries.recipes_visible_to(study, self.me, study.my_roles)

    def recipe(self, *roles: str) -> Recipe:
        """The current version; `number` stands in the address."""
        found = self.recipes(*roles).current().filter(number=self.kwargs["number"]).first()
        if found is None:
            raise Http404("There is no such recipe, or it is not shown yet.")
        return found

    def version(self) -> Recipe:
        """The one that `version` in the address names."""
        number, version = self.kwargs["number"], self.kwargs["version"]
        found = self.recipes().filter(number=number, version=version).first()
        if found is None:
            raise Http404("There is no such version, or it is not shown yet.")
        return found

    def bug(self, number: int) -> Bug:
        study = self.study()
        bug = Bug.objects.select_related("item", "study").filter(study=study, number=number).first()
        if bug is None:
            raise Http404("There is no such bug.")
        return bug


def show(recipe: Recipe, code: int = 200) -> Response:
    context = {"latest": queries.latest_told([recipe])}
    return Response(shapes.WholeRecipe(recipe, context=context).data, status=code)


def read(given: dict[str, Any]) -> recipes.Recipe:
    if ("yaml" in given) == ("document" in given):
        raise BadInput("Send the recipe as yaml or as document, one of both.")
    return recipes.read(given["yaml"]) if "yaml" in given else recipes.from_document(given["document"])


# --- recipes


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("bug", int),
            OpenApiParameter("verdict", str, enum=[value for value, _ in listing.VERDICTS]),
            OpenApiParameter("repository", str, description="what the study calls it"),
            OpenApiParameter("q", str, description="words in the name or the bug's title, R-17, a number, #number"),
            OpenApiParameter("mine", bool, description="whose current version the caller wrote"),
        ]
    )
)
class Recipes(RecipeView, StudyList):
    """Recipes in their current version, by number."""

    serializer_class = shapes.RecipeShape
    order = ("number",)

    def rows(self) -> QuerySet[Recipe]:
        asked = {name: self.asked(name) for name in ("q", "verdict", "repository", "mine")}
        filters, bug = listing.filters_of(asked), whole(self.asked("bug"))
        if filters.verdict != asked["verdict"]:
            raise BadInput(f"verdict: take one of {', '.join(dict(listing.VERDICTS))}.")
        rows = listing.narrowed(self.recipes().current(), filters, viewer=self.me)
        rows = rows if bug is None else rows.filter(bug__number=bug)
        return listing.of_verdict(rows, filters.verdict) if filters.verdict else rows

    def told(self, rows: list[Recipe]) -> list[Recipe]:
        self.latest = queries.latest_told(rows)
        return rows

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "latest": getattr(self, "latest", {})}

    @extend_schema(request=shapes.NewRecipe, responses={201: shapes.WholeRecipe})
    def post(self, request: Request, slug: str) -> Response:
        """Write a recipe for a bug."""
        self.study(*WRITERS)
        given, each = self.given(shapes.NewRecipe), Gathering()
        bug = self.bug(given["bug"])
        recipe, script = each(read, given), each(recipes.checked_script, given["script"])
        each.refuse()
        row = actions.create_recipe(bug=bug, recipe=recipe, script=script, by=self.me)
        return show(row, status.HTTP_201_CREATED)


class Proposal(RecipeView):
    @extend_schema(responses=shapes.RecipeProposal)
    def get(self, request: Request, slug: str, bug: int) -> Response:
        """A recipe begun from the bug's pull request: versions where they can be known, and what could not."""
        self.study(*WRITERS)
        return Response(shapes.RecipeProposal(proposing.propose(self.bug(bug))).data)


class OneRecipe(RecipeView):
    @extend_schema(responses=shapes.WholeRecipe)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A recipe in its current version, with script and earlier versions."""
        return show(self.recipe())

    @extend_schema(request=shapes.ChangedRecipe, responses=shapes.WholeRecipe)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Change it: a further version, with the reason."""
        row, given = self.recipe(*WRITERS), self.given(shapes.ChangedRecipe)
        each, is_sent = Gathering(), {"yaml", "document"} & {*given}
        said = each(read, given) if is_sent else recipes.from_document(row.document)
        script = each(recipes.checked_script, given.get("script", row.script))
        each.refuse()
        return show(actions.change_recipe(row=row, recipe=said, script=script, why=given["why"], by=self.me))


class OneVersion(RecipeView):
    @extend_schema(responses=shapes.WholeRecipe)
    def get(self, request: Request, slug: str, number: int, version: int) -> Response:
        """A version as it was written; the verdict is that of the latest series, of whichever version."""
        return show(self.version())


class Replay(RecipeView):
    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        """The recipe as a folder that reruns with only uv: recipe, script, locked requirements, one command."""
        return replay_response(self.recipe())


class ReplayOfVersion(RecipeView):
    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int, version: int) -> HttpResponse:
        """The same of an earlier version, locked as its own runs were."""
        return replay_response(self.version())


def replay_response(recipe: Recipe) -> HttpResponse:
    response = HttpResponse(replaying.zipped(recipe), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{replaying.name_of(recipe)}.zip"'
    return response


# --- series


class SeriesView(RecipeView):
    def of_recipe(self, *roles: str) -> "QuerySet[Series]":
        """Of all versions of the recipe."""
        recipe = self.recipe(*roles)
        return Series.objects.filter(recipe__study=recipe.study_id, recipe__number=recipe.number)

    def series(self, *roles: str) -> Series:
        """`version` and `series` stand in the address: each version counts its own."""
        version, number = self.kwargs["version"], self.kwargs["series"]
        rows = self.of_recipe(*roles).select_related("recipe__bug__study", "recipe__study")
        return get_object_or_404(rows, recipe__version=version, number=number)


def show_series(series: Series, code: int = 200) -> Response:
    (told,) = queries.series_told(Series.objects.filter(pk=series.pk))
    return Response(shapes.OneSeries(told).data, status=code)


class AllSeries(SeriesView, StudyList):
    """Series of a recipe, the latest first, with their verdicts."""

    serializer_class = shapes.SeriesShape
    order = ("-asked_at",)

    def rows(self) -> QuerySet[Series]:
        return self.of_recipe()

    def told(self, rows: list[Any]) -> list[Any]:
        found = {
            told.series.pk: told for told in queries.series_told(Series.objects.filter(pk__in=[r.pk for r in rows]))
        }
        return [found[row.pk] for row in rows]

    @extend_schema(request=shapes.NewSeries, responses={201: shapes.OneSeries})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Ask for runs: every environment as often as the recipe says."""
        series = actions.ask(recipe=self.recipe(*WRITERS), by=self.me, **self.given(shapes.NewSeries))
        waking.wake_series(series)
        return show_series(series, status.HTTP_201_CREATED)


class OneSeries(SeriesView):
    @extend_schema(responses=shapes.OneSeries)
    def get(self, request: Request, slug: str, number: int, version: int, series: int) -> Response:
        """A series with its runs and what they say together."""
        return show_series(self.series())


class Retry(SeriesView):
    @extend_schema(request=None, responses=shapes.OneSeries)
    def post(self, request: Request, slug: str, number: int, version: int, series: int) -> Response:
        """Have runs tried again that say nothing of the bug, with the same seeds."""
        row = self.series(*WRITERS)
        waking.wake_runs(actions.retry_faults(series=row, by=self.me))
        return show_series(row)


class CancelSeries(SeriesView):
    @extend_schema(request=None, responses=shapes.OneSeries)
    def post(self, request: Request, slug: str, number: int, version: int, series: int) -> Response:
        """End what waits and what runs, at once."""
        row = self.series(*WRITERS)
        actions.cancel_series(series=row, by=self.me)
        return show_series(row)


# --- runs


class RunView(StudyView):
    def run(self, *roles: str) -> Run:
        study = self.study(*roles)
        found = queries.runs_visible_to(study, self.me, study.my_roles).filter(key=self.kwargs["key"]).first()
        if found is None:
            raise Http404("There is no such run, or it is not shown yet.")
        return found


class OneRun(RunView):
    @extend_schema(responses=shapes.WholeRun)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """A run with its output, what was installed and what went in."""
        return Response(shapes.WholeRun(self.run()).data)


class CancelRun(RunView):
    @extend_schema(request=None, responses=shapes.WholeRun)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """End it at once, whether it waits or runs."""
        actions.cancel_run(run=self.run(*WRITERS), by=self.me)
        return Response(shapes.WholeRun(self.run()).data)


@extend_schema_view(
    get=extend_schema(parameters=[OpenApiParameter("after", int, description="a sequence; default −1")])
)
class RunLog(RunView):
    @extend_schema(responses=shapes.LogShape)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """What the current attempt wrote, behind a sequence."""
        run, after = self.run(), whole(self.asked("after"))
        pieces = queries.log_after(run, -1 if after is None else after)
        return Response(shapes.LogShape({"state": run.state, "attempt": run.attempt, "pieces": pieces}).data)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="lines that hold these words, in any case"),
            OpenApiParameter("stream", str, enum=[value for value, _ in outputs.STREAMS[1:]]),
        ]
    )
)
class RunLines(RunView):
    @extend_schema(responses=shapes.LogLinesShape)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """What it wrote, line by line with numbers; the first lines, or the first that hold what is looked for."""
        stream = self.asked("stream")
        if stream not in dict(outputs.STREAMS):
            raise BadInput("stream: take out, err, or leave it out.")
        every = outputs.whole(self.run(), stream)
        found = outputs.numbered(every, self.asked("q"))
        return Response(shapes.LogLinesShape({"total": len(every), "lines": found}).data)


# --- hosts


class Hosts(StudyView):
    @extend_schema(responses=shapes.HostShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The study's hosts, by name."""
        rows = Host.objects.present().filter(study=self.study(Role.LEAD)).select_related("added_by", "token")
        return Response(shapes.HostShape(list(rows.order_by("name")), many=True).data)

    @extend_schema(request=shapes.NewHost, responses={201: shapes.AddedHost})
    def post(self, request: Request, slug: str) -> Response:
        """Add a host; the answer has its key, this once."""
        host, secret = hosts.add_host(study=self.study(Role.LEAD), by=self.me, **self.given(shapes.NewHost))
        return Response(shapes.AddedHost(host, context={"secret": secret}).data, status=status.HTTP_201_CREATED)


class HostView(StudyView):
    def host(self) -> Host:
        rows = Host.objects.present().select_related("token", "added_by")
        return get_object_or_404(rows, study=self.study(Role.LEAD), name=self.kwargs["name"])


class OneHost(HostView):
    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Remove it: its key ends, what it has in hand is for others."""
        hosts.remove_host(host=self.host(), by=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class VoidRuns(HostView):
    @extend_schema(request=shapes.WithWhy, responses=shapes.VoidShape)
    def post(self, request: Request, slug: str, name: str) -> Response:
        """Declare all its runs void, with the reason: they stay to be read and count no more."""
        host = self.host()
        taken_from = Run.objects.filter(host=host, state=Run.State.RUNNING).values_list("pk", flat=True)
        back = list(taken_from)
        count = hosts.void_runs(host=host, by=self.me, **self.given(shapes.WithWhy))
        waking.wake_runs(Run.objects.filter(pk__in=back, state=Run.State.WAITING))
        return Response(shapes.VoidShape({"runs": count}).data)
