"""REST: opening and closing rounds, and the history of a study."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from annotator.accounts.models import User
from annotator.labeling.api import roles_of, show_round
from annotator.labeling.models import Round
from annotator.labeling.rounds import bug_counts
from annotator.labeling.serializers import OneRoundShape, RoundShape
from annotator.overview import past
from annotator.overview.rounds import choosing
from annotator.overview.rounds.closing import close_round
from annotator.overview.rounds.opening import open_next_round
from annotator.overview.serializers import EventsShape, NewRound
from annotator.sampling.models import Bug
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of
from annotator.studies.rest import StudyList, StudyView
from annotator.web.errors import BadInput

GATE = ("gate_coefficient", "gate_method", "gate_bound", "gate_min_n")


class Rounds(StudyList):
    """Rounds by number."""

    serializer_class = RoundShape
    order = ("number",)

    def rows(self) -> QuerySet[Round]:
        rounds = Round.objects.filter(study=self.study())
        return rounds.select_related("codebook_version").defer("codebook_version__document")

    def get_serializer_context(self) -> dict[str, Any]:
        is_fake = getattr(self, "swagger_fake_view", False)  # the schema is being made: there is no study
        return {**super().get_serializer_context(), "bugs": {} if is_fake else bug_counts(self.study())}

    @extend_schema(request=NewRound, responses={201: OneRoundShape})
    def post(self, request: Request, slug: str) -> Response:
        """Open a round: choose its bugs and raters, and fix its gate."""
        study, given = self.study(Role.LEAD), self.given(NewRound)
        gate = given.pop("gate", None) or {name: getattr(protocol_of(study), name) for name in GATE}
        raters = raters_of(study, given.pop("raters"))
        bugs = bugs_of(study, given.pop("bugs", {}), seed=given["seed"])
        opened = open_next_round(study=study, bugs=bugs, raters=raters, by=self.me, **gate, **given)
        shown = show_round(opened, viewer=self.me, roles=roles_of(study))
        shown.status_code = status.HTTP_201_CREATED
        return shown


def raters_of(study: Study, names: list[str]) -> list[User]:
    people = {user.username: user for user in User.objects.filter(memberships__study=study, username__in=names)}
    missing = [name for name in names if name not in people]
    if missing:
        raise BadInput(f"“{missing[0]}” is not a member of this study.")
    return [people[name] for name in names]


def bugs_of(study: Study, wanted: dict[str, Any], *, seed: int) -> list[Bug]:
    numbers = wanted.pop("numbers", None)
    if numbers is None:
        number = wanted.pop("of_import", None)
        return choosing.choose(study, choosing.Wanted(import_number=number, seed=seed, **wanted))
    found = list(Bug.objects.filter(study=study, number__in=numbers).order_by("number"))
    if missing := set(numbers) - {bug.number for bug in found}:
        raise BadInput(f"The study has no bug {min(missing)}.")
    return found


class Close(StudyView):
    @extend_schema(request=None, responses=OneRoundShape)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Close a round for good: its agreement is counted, and what nobody differs on is settled."""
        study = self.study(Role.LEAD)
        round_ = get_object_or_404(Round.objects.select_related("study"), study=study, number=number)
        return show_round(close_round(round_=round_, by=self.me), viewer=self.me, roles=roles_of(study))


class Events(StudyView):
    @extend_schema(parameters=[OpenApiParameter("after", str), OpenApiParameter("by", str)], responses=EventsShape)
    def get(self, request: Request, slug: str) -> Response:
        """What happened, the latest first; nothing of what others do in open rounds."""
        after = past.Cursor.read(self.asked("after"))
        events, end = past.page(self.study(), self.me, after=after, actor=self.asked("by"))
        following = replace_query_param(request.build_absolute_uri(), "after", str(end)) if end else None
        return Response(EventsShape({"next": following, "results": events}).data)
