"""REST: harvests, what they found, the items of a study, and the tokens that harvests ask by."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.collection import actions, asking, lists
from annotator.collection import serializers as shapes
from annotator.collection.budgets import KEY, stored_keys
from annotator.collection.models import Finding, GitHubToken, Harvest, Item, Window
from annotator.collection.previewing import count_hits
from annotator.collection.progress import progress_of
from annotator.collection.saying import in_words
from annotator.collection.tokens import remove_token, store_token
from annotator.collection.wanted import Wanted, read_list, unique
from annotator.studies.models import Role, Study
from annotator.studies.rest import StudyList, StudyView
from annotator.web.errors import BadInput
from annotator.web.wake import wake

TASK = "annotator.collection.tasks.harvest"


def wanted_of(given: dict[str, Any]) -> tuple[Wanted, str]:
    """What is asked for, and of which host."""
    if given["urls"]:
        if given["repositories"]:
            raise BadInput("Give repositories or a list of addresses, not both.")
        return read_list(given["urls"], host=given["host"])
    one: dict[str, Any] = {name: given[name] for name in ("kind", "moment", "first", "last", "state", "limit")}
    many: dict[str, Any] = {name: tuple(dict.fromkeys(given[name])) for name in ("labels", "authors")}
    said = tuple(dict.fromkeys(word.lower() for word in given["words"]))
    return Wanted(repositories=unique(given["repositories"]), words=said, **one, **many), given["host"]


# --- harvests


class Harvests(StudyList):
    """Harvests by number."""

    serializer_class = shapes.HarvestShape
    order = ("number",)

    def rows(self) -> QuerySet[Harvest]:
        return Harvest.objects.filter(study=self.study()).select_related("created_by")

    @extend_schema(request=shapes.NewHarvest, responses={202: shapes.OneHarvestShape})
    def post(self, request: Request, slug: str) -> Response:
        """Start a harvest: a worker asks GitHub. What was asked already is looked through again there instead."""
        study, given = self.study(Role.LEAD), self.given(shapes.NewHarvest)
        wanted, host = wanted_of(given)
        harvest = asking.ask(study=study, wanted=wanted, host=host, by=self.me, refresh_days=given["refresh_days"])
        wake(TASK, harvest.pk, queue="mining")
        return shown(harvest, study, status.HTTP_202_ACCEPTED)


class Preview(StudyView):
    @extend_schema(request=shapes.HarvestPreview, responses=shapes.HarvestPreviewShape)
    def post(self, request: Request, slug: str) -> Response:
        """What would be asked, in words; with `count`, how many hits GitHub counts at this moment."""
        study, given = self.study(Role.LEAD), self.given(shapes.HarvestPreview)
        wanted, host = wanted_of(given)
        counted = count_hits(study=study, wanted=wanted, host=host) if given["count"] else None
        hits, is_complete = (counted.total, counted.is_complete) if counted else (None, None)
        return Response({"words": in_words(wanted, host), "hits": hits, "is_complete": is_complete})


def shown(harvest: Harvest, study: Study, code: int = status.HTTP_200_OK) -> Response:
    context = {"is_lead": Role.LEAD in study.my_roles}
    return Response(shapes.OneHarvestShape(progress_of(harvest), context=context).data, status=code)


class HarvestView(StudyView):
    def found(self, *roles: str) -> tuple[Study, Harvest]:
        study = self.study(*roles)
        rows = Harvest.objects.select_related("study", "created_by")
        return study, get_object_or_404(rows, study=study, number=self.kwargs["number"])


class OneHarvest(HarvestView):
    @extend_schema(responses=shapes.OneHarvestShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """How far a harvest is, and what came of it."""
        study, harvest = self.found()
        return shown(harvest, study)

    @extend_schema(request=shapes.Schedule, responses=shapes.OneHarvestShape)
    def patch(self, request: Request, slug: str, number: int) -> Response:
        """Look again by itself every so many days; null: never."""
        study, harvest = self.found(Role.LEAD)
        asking.schedule(harvest=harvest, days=self.given(shapes.Schedule)["refresh_days"], by=self.me)
        return shown(harvest, study)


class Pause(HarvestView):
    @extend_schema(request=None, responses=shapes.OneHarvestShape)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Stop before the next thing is stored, until it is resumed."""
        study, harvest = self.found(Role.LEAD)
        actions.pause(harvest=harvest, by=self.me)
        return shown(harvest, study)


class Resume(HarvestView):
    @extend_schema(request=None, responses={202: shapes.OneHarvestShape})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Go on from where it was."""
        study, harvest = self.found(Role.LEAD)
        actions.resume(harvest=harvest, by=self.me)
        wake(TASK, harvest.pk, queue="mining")
        return shown(harvest, study, status.HTTP_202_ACCEPTED)


class Cancel(HarvestView):
    @extend_schema(request=None, responses=shapes.OneHarvestShape)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Stop for good. What was collected stays."""
        study, harvest = self.found(Role.LEAD)
        actions.cancel(harvest=harvest, by=self.me)
        return shown(harvest, study)


class Again(HarvestView):
    @extend_schema(request=None, responses={202: shapes.OneHarvestShape})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Look again at a harvest that is done: for what is new and what was edited."""
        study, harvest = self.found(Role.LEAD)
        asking.look_again(harvest=harvest, by=self.me)
        wake(TASK, harvest.pk, queue="mining")
        return shown(harvest, study, status.HTTP_202_ACCEPTED)


class Sampling(HarvestView):
    @extend_schema(request=shapes.WhySampled, responses=shapes.OneHarvestShape)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Write down why it may be sampled though it is not complete."""
        study, harvest = self.found(Role.LEAD)
        actions.allow_sampling(harvest=harvest, reason=self.given(shapes.WhySampled)["reason"], by=self.me)
        return shown(harvest, study)


# --- what a harvest found


class OfHarvest(StudyList):
    def harvest(self) -> Harvest:
        return get_object_or_404(Harvest, study=self.study(), number=self.kwargs["number"])


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("show", str, enum=list(lists.FINDINGS), description="which of them; default found"),
            OpenApiParameter("reason", str, description="such as 404"),
            OpenApiParameter("repository", str, description="what the study calls it"),
        ]
    )
)
class Findings(OfHarvest):
    """What GitHub's search named, and what became of each."""

    serializer_class = shapes.FindingShape
    order = ("repository__label", "number")

    def rows(self) -> QuerySet[Finding]:
        show = self.asked("show") or "found"
        if show not in lists.FINDINGS:
            raise BadInput(f"`show` is one of {', '.join(lists.FINDINGS)}.")
        filters = lists.FindingFilters(show, self.asked("reason"), self.asked("repository"))
        return lists.findings_of(self.harvest(), filters)


class Windows(OfHarvest):
    """The slices of time in which GitHub was asked."""

    serializer_class = shapes.WindowShape
    order = ("repository__label", "starts")

    def rows(self) -> QuerySet[Window]:
        return Window.objects.filter(harvest=self.harvest()).select_related("repository")


# --- items


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="words in the title, or #number"),
            OpenApiParameter("repository", str, description="what the study calls it"),
            OpenApiParameter("kind", str),
            OpenApiParameter("state", str),
            OpenApiParameter("harvest", str, description="its number"),
        ]
    )
)
class Items(StudyList):
    """Everything that was found, whether or not it is among the bugs."""

    serializer_class = shapes.ItemShape
    order = ("identity",)

    def rows(self) -> QuerySet[Item]:
        sent = {name: self.asked(name) for name in ("repository", "kind", "state", "harvest")}
        return lists.items_of(self.study(), lists.ItemFilters(words=self.asked("q").strip(), **sent))


class OneItem(StudyView):
    @extend_schema(responses=shapes.WholeItemShape)
    def get(self, request: Request, slug: str, identity: str) -> Response:
        """An item with its text, discussion, commits, diff, links and later edits."""
        rows = Item.objects.select_related("repository", "text")
        whole = rows.prefetch_related("comments", "commits", "files__patch", "links__target", "edits")
        return Response(shapes.WholeItemShape(get_object_or_404(whole, study=self.study(), identity=identity)).data)


# --- tokens


class Tokens(StudyView):
    @extend_schema(responses=shapes.GitHubTokenShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The study's tokens for GitHub by name, never themselves."""
        return Response(shapes.GitHubTokenShape(stored_keys(self.study(Role.LEAD)), many=True).data)

    @extend_schema(request=shapes.NewGitHubToken, responses={201: shapes.GitHubTokenShape(many=True)})
    def post(self, request: Request, slug: str) -> Response:
        """Store a token: sealed, for one host, and shown to nobody again."""
        study = self.study(Role.LEAD)
        store_token(study=study, by=self.me, **self.given(shapes.NewGitHubToken))
        return Response(shapes.GitHubTokenShape(stored_keys(study), many=True).data, status=status.HTTP_201_CREATED)


class OneToken(StudyView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, key: str) -> Response:
        """Remove a token: what was stored of it is wiped."""
        present = GitHubToken.objects.present(self.study(Role.LEAD))
        if len(key) != KEY:
            raise Http404("There is no such token.")
        remove_token(row=get_object_or_404(present, digest__startswith=key), by=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)
