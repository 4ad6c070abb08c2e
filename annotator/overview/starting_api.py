"""One's studies over REST, and starting another."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.codebook import presets, reading
from annotator.codebook.document import Document
from annotator.overview.actions import create_study
from annotator.overview.starting import short_name
from annotator.studies.access import study_for
from annotator.studies.queries import studies_of
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


@extend_schema(methods=["GET"], responses=StudySerializer(many=True))
@extend_schema(methods=["POST"], request=StudyInput, responses={201: StudySerializer})
@api_view(["GET", "POST"])
def studies(request: Request) -> Response:
    """Your studies, newest first. Who starts one leads it."""
    user = cast(User, request.user)
    if request.method == "GET":
        mine = [study_for(user, own.study.slug) for own in studies_of(user)]
        return Response(StudySerializer(mine, many=True).data)
    filled = StudyInput(data=request.data)
    filled.is_valid(raise_exception=True)
    given = filled.validated_data
    study = create_study(
        slug=given["slug"] or short_name(given["title"]),
        title=given["title"],
        question=given["question"],
        document=document_of(given["codebook"]),
        by=user,
    )
    return Response(StudySerializer(study_for(user, study.slug)).data, status=201)
