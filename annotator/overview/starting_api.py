"""One's studies over REST, and starting another."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.codebook import presets, reading
from annotator.codebook.document import Document
from annotator.overview.actions import create_study
from annotator.overview.starting import short_name
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.studies.rest import StudyList
from annotator.studies.serializers import StudySerializer
from annotator.web.errors import BadInput


class StudyInput(serializers.Serializer[Any]):
    """A new study. The codebook is a preset's slug, or a whole codebook as its file has it."""

    title = serializers.CharField(max_length=200)
    slug = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    question = serializers.CharField(max_length=10_000, required=False, allow_blank=True, default="")
    codebook = serializers.JSONField()


def document_of(given: Any) -> Document:
    if isinstance(given, str):
        return presets.preset(given)
    if not isinstance(given, dict):
        raise BadInput("The codebook is the slug of a preset, or an object with title and facets.")
    return reading.to_document(given)


class Studies(StudyList):
    """Your studies, by short name. Who starts one leads it."""

    serializer_class = StudySerializer
    order = ("slug",)

    def rows(self) -> QuerySet[Study]:
        return Study.objects.of(self.me)

    def told(self, rows: list[Study]) -> list[Study]:
        return [study_for(self.me, study.slug) for study in rows]

    @extend_schema(request=StudyInput, responses={201: StudySerializer})
    def post(self, request: Request) -> Response:
        """Start a study."""
        given = self.given(StudyInput)
        study = create_study(
            slug=given["slug"] or short_name(given["title"]),
            title=given["title"],
            question=given["question"],
            document=document_of(given["codebook"]),
            by=self.me,
        )
        return Response(StudySerializer(study_for(self.me, study.slug)).data, status=201)
