"""REST: how well the raters agreed, once a round is no longer open."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.agreement import queries
from annotator.agreement.actions import continue_below_gate
from annotator.agreement.serializers import ENTRIES, Reason
from annotator.labeling.models import Round
from annotator.labeling.queries import round_named
from annotator.studies.models import Role
from annotator.studies.rest import StudyView

FACET = OpenApiParameter("facet", str, description="id of a facet")
LEVEL = OpenApiParameter(
    "level",
    str,
    description="answered; top: every answer counted as the category at the top above it; "
    "v2: mapped to that version of the codebook",
)
MAPPED = OpenApiParameter("mapped", str, description="the same as level: a version's number, or now")


class Agreement(StudyView):
    @extend_schema(
        parameters=[OpenApiParameter("round", str, description="number or name"), FACET, LEVEL, MAPPED],
        responses={200: ENTRIES},
    )
    def get(self, request: Request, slug: str) -> Response:
        """One entry for each round, facet and pair of raters. An open round gives nothing."""
        study, named = self.study(), self.asked("round")
        round_ = round_named(study, named) if named else None
        if named and round_ is None:
            raise Http404("There is no such round.")
        level = queries.level_named(study, self.asked("level"), mapped=self.asked("mapped"))
        return Response(queries.entries(study, round_=round_, facet=self.asked("facet") or None, level=level))


class Pooled(StudyView):
    @extend_schema(parameters=[FACET, LEVEL, MAPPED], responses={200: ENTRIES})
    def get(self, request: Request, slug: str) -> Response:
        """All main rounds that are no longer open, together."""
        study = self.study()
        level = queries.level_named(study, self.asked("level"), mapped=self.asked("mapped"))
        return Response(queries.pooled(study, facet=self.asked("facet") or None, level=level))


class Continue(StudyView):
    @extend_schema(request=Reason, responses={204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Write down why the study goes on although the round's gate was not passed."""
        rounds = Round.objects.select_related("study")
        round_ = get_object_or_404(rounds, study=self.study(Role.LEAD), number=number)
        continue_below_gate(round_=round_, reason=self.given(Reason)["reason"], by=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)
