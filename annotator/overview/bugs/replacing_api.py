"""REST: replacing what turned out to be no bug."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.overview.bugs import replacing
from annotator.sampling.samples_serializers import TopUpShape
from annotator.studies.models import Role
from annotator.studies.rest import StudyView


class ReplacementShape(serializers.Serializer[Any]):
    left = serializers.IntegerField(source="left.number", help_text="bug")
    position = serializers.IntegerField(source="place.position", help_text="of the item in the sample's list")
    reference = serializers.CharField(source="place.item.reference")


class ChangeShape(serializers.Serializer[Any]):
    sample = serializers.IntegerField(source="sample.number", allow_null=True, default=None)
    leaving = serializers.SerializerMethodField(help_text="numbers of bugs")
    replacements = ReplacementShape(many=True)

    def get_leaving(self, change: replacing.Change) -> list[int]:
        return [bug.number for bug in change.leaving]


class Replaced(serializers.Serializer[Any]):
    left = serializers.ListField(child=serializers.IntegerField(), help_text="numbers of bugs")
    top_ups = TopUpShape(many=True)


class Replacements(StudyView):
    @extend_schema(responses=ChangeShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Which bugs are settled as no bug, and what of the reserve would take their places."""
        return Response(ChangeShape(replacing.changes(self.study(Role.LEAD)), many=True).data)

    @extend_schema(request=None, responses=Replaced)
    def post(self, request: Request, slug: str) -> Response:
        """Let them leave and top up their samples, in one step."""
        left, made = replacing.replace_denied(study=self.study(Role.LEAD), by=self.me)
        return Response(Replaced({"left": [bug.number for bug in left], "top_ups": made}).data)
