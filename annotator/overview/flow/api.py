"""REST: the flow from found to released."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.overview.flow import files
from annotator.overview.flow.counting import flow_of
from annotator.studies.rest import StudyView


class FlowStep(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(help_text="records, items or bugs")
    n = serializers.IntegerField()
    excluded = serializers.DictField(child=serializers.IntegerField(), help_text="what the next step lacks, by reason")
    added = serializers.DictField(child=serializers.IntegerField(), help_text="what the step before lacked, by reason")
    expected = serializers.IntegerField(help_text="what follows from the step before")
    notes = serializers.ListField(child=serializers.CharField())
    votes = serializers.DictField(
        child=serializers.IntegerField(), required=False, help_text="of screening: candidates by votes to include"
    )


class FlowShape(serializers.Serializer[Any]):
    steps = FlowStep(many=True)
    balanced = serializers.BooleanField()
    breaks = serializers.ListField(child=serializers.CharField(), help_text="where it does not add up")
    replaced = serializers.IntegerField(help_text="bugs that left and have a successor")


class BeingDrawn(serializers.Serializer[Any]):
    retry_after = serializers.IntegerField(help_text="seconds; the header says so as well")


class FlowOfStudy(StudyView):
    @extend_schema(responses=FlowShape)
    def get(self, request: Request, slug: str) -> Response:
        """What was found, held, screened, drawn, labelled and settled, and what fell out at each step."""
        return Response(FlowShape(flow_of(self.study()).document()).data)


class Svg(StudyView):
    @extend_schema(responses={(200, "image/svg+xml"): OpenApiTypes.STR})
    def get(self, request: Request, slug: str) -> HttpResponse | None:
        """The flow as a picture."""
        return files.sent(self.study(), files.SVG)


class Pdf(StudyView):
    @extend_schema(responses={(200, "application/pdf"): OpenApiTypes.BINARY, 202: BeingDrawn})
    def get(self, request: Request, slug: str) -> HttpResponse:
        """The flow as a picture; 202 while it is being drawn: ask again later."""
        ready, after = files.sent(self.study(), files.PDF), files.AGAIN_AFTER
        return ready or Response({"retry_after": after}, status=202, headers={"Retry-After": str(after)})
